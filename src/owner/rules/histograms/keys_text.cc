#include "rules/histograms/keys_text.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <limits>

namespace landtrace::rules {
namespace {

using ipc::KeyKind;

// A field that is a stack has no colon behind its name, and its first frame no line of its own: as in the kernel.
std::string name_text(const HistogramField& field) {
  const std::string name = name_of(field);
  if (!field.is_stack()) return name + ": ";
  return field.source == FieldSource::kEvent ? name + ".stacktrace" : name + ":\n";
}

void append_value(std::string& text, const ipc::HistogramKey& key, const ipc::HistogramKeyValue& value) {
  const auto to = std::back_inserter(text);
  switch (key.kind) {
    case KeyKind::kText:
      fmt::format_to(to, "{:<50}", value.text);
      return;
    case KeyKind::kStack:
      for (const ipc::HistogramFrame& frame : value.frames) fmt::format_to(to, "{:9}{}\n", "", frame.name);
      return;
    case KeyKind::kHex:
      fmt::format_to(to, "{:x}", value.number);
      return;
    case KeyKind::kSymbol:
      fmt::format_to(to, "[{:x}] {:<45}", value.number, value.text);
      return;
    case KeyKind::kSymbolOffset:
      fmt::format_to(to, "[{:x}] {:<55}", value.number, value.text);
      return;
    case KeyKind::kExecName:
      fmt::format_to(to, "{:<16}[{:10}]", value.text, value.number);
      return;
    case KeyKind::kSyscall:
      fmt::format_to(to, "{:<30}[{:3}]", value.text, value.number);
      return;
    case KeyKind::kLog2:
      fmt::format_to(to, "~ 2^{:<2}", value.number);
      return;
    case KeyKind::kSteps:
      fmt::format_to(to, "~ {}-{}", value.number, ipc::last_in_step(value.number, key.width));
      return;
    case KeyKind::kRange:
      fmt::format_to(to, "~ {}-{}", value.number, value.number + key.width - 1);
      return;
    case KeyKind::kUnsigned:
    case KeyKind::kSigned:  // the kernel prints the bits of these as an unsigned number
    case KeyKind::kFloat:
    case KeyKind::kDouble:
      append_number(text, value.number);
  }
}

}  // namespace

void append_number(std::string& to, std::uint64_t number) {
  constexpr std::ptrdiff_t kWidth = 10;
  std::array<char, std::numeric_limits<std::uint64_t>::digits10 + 1> text;
  char* const end = text.data() + text.size();
  char* begin = end;
  do {
    *--begin = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  while (end - begin < kWidth) *--begin = ' ';
  to.append(begin, end);
}

std::string value_text(const ipc::HistogramKey& key, const ipc::HistogramKeyValue& value) {
  std::string text;
  append_value(text, key, value);
  return text;
}

KeysText::KeysText(const Histogram& histogram, AddressNames& names) : keys_(histogram, names), end_(" }") {
  for (const FieldPtr& field : histogram.keys) {
    begins_.push_back((begins_.empty() ? "{ " : ", ") + name_text(*field));
    if (field->is_stack()) end_ = "}";
  }
}

void KeysText::append(std::string& to, std::span<const std::byte> key, std::string_view comm) const {
  for (std::size_t i = 0; i < begins_.size(); ++i) {
    to += begins_[i];
    append_value(to, keys_.all()[i],
                 keys_.is_number(i) ? ipc::HistogramKeyValue{keys_.number(i, key), {}, {}} : keys_.value(i, key, comm));
  }
  to += end_;
}

}  // namespace landtrace::rules
