#include "rules/histograms/keys_text.hpp"

#include <fmt/format.h>

#include "rules/histograms/keys.hpp"

namespace landtrace::rules {
namespace {

using ipc::KeyKind;

std::string stack_text(const std::vector<ipc::HistogramFrame>& frames) {
  std::string text;
  for (const ipc::HistogramFrame& frame : frames) text += fmt::format("{:9}{}\n", "", frame.name);
  return text;
}

// A field that is a stack has no colon behind its name, and its first frame no line of its own: as in the kernel.
std::string name_text(const HistogramField& field) {
  const std::string name = name_of(field);
  if (!field.is_stack()) return name + ": ";
  return field.source == FieldSource::kEvent ? name + ".stacktrace" : name + ":\n";
}

}  // namespace

std::string value_text(const ipc::HistogramKey& key, const ipc::HistogramKeyValue& value) {
  switch (key.kind) {
    case KeyKind::kText:
      return fmt::format("{:<50}", value.text);
    case KeyKind::kStack:
      return stack_text(value.frames);
    case KeyKind::kHex:
      return fmt::format("{:x}", value.number);
    case KeyKind::kSymbol:
      return fmt::format("[{:x}] {:<45}", value.number, value.text);
    case KeyKind::kSymbolOffset:
      return fmt::format("[{:x}] {:<55}", value.number, value.text);
    case KeyKind::kExecName:
      return fmt::format("{:<16}[{:10}]", value.text, value.number);
    case KeyKind::kSyscall:
      return fmt::format("{:<30}[{:3}]", value.text, value.number);
    case KeyKind::kLog2:
      return fmt::format("~ 2^{:<2}", value.number);
    case KeyKind::kSteps:
      return fmt::format("~ {}-{}", value.number, ipc::last_in_step(value.number, key.width));
    case KeyKind::kRange:
      return fmt::format("~ {}-{}", value.number, value.number + key.width - 1);
    case KeyKind::kUnsigned:
    case KeyKind::kSigned:  // the kernel prints the bits of these as an unsigned number
    case KeyKind::kFloat:
    case KeyKind::kDouble:
      break;
  }
  return fmt::format("{:10}", value.number);
}

std::string key_text(const Histogram& histogram, const std::vector<ipc::HistogramKeyValue>& values) {
  std::string text = "{ ";
  bool has_lines = false;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const HistogramField& field = *histogram.keys[i];
    text += i > 0 ? ", " : "";
    text += name_text(field) + value_text(key_of(field), values[i]);
    has_lines = has_lines || field.is_stack();
  }
  return text + (has_lines ? "}" : " }");
}

}  // namespace landtrace::rules
