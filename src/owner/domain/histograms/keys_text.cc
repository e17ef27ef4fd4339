#include "domain/histograms/keys_text.hpp"

#include <fmt/format.h>

#include "domain/histograms/syscall_names.hpp"

namespace landtrace::domain {
namespace {

std::string text_at(std::span<const std::byte> key, std::uint32_t offset, std::uint32_t size) {
  const auto* const text = reinterpret_cast<const char*>(key.data()) + offset;
  return {text, ::strnlen(text, size)};
}

std::string stack_text(std::span<const std::byte> key, std::uint32_t offset, AddressNames& names) {
  std::string text;
  for (std::uint32_t i = 0; i < hist::kStackFrames; ++i) {
    const std::uint64_t address = number_at(key, offset + 8 * i);
    if (address == 0) break;
    text += fmt::format("{:9}{}\n", "", names.frame(address));
  }
  return text;
}

std::string part_text(const HistogramField& field, std::span<const std::byte> key, std::uint32_t offset,
                      std::uint32_t size, const std::string& comm, AddressNames& names) {
  const std::string name = name_of(field);
  if (field.is_stack()) {
    const bool is_field = field.source == FieldSource::kEvent;
    return (is_field ? name + ".stacktrace" : name + ":\n") + stack_text(key, offset, names);
  }
  const std::uint64_t number = number_at(key, offset);
  switch (field.view) {
    case FieldView::kHex:
      return fmt::format("{}: {:x}", name, number);
    case FieldView::kSymbol:
      return fmt::format("{}: [{:x}] {:<45}", name, number, names.symbol(number));
    case FieldView::kSymbolOffset:
      return fmt::format("{}: [{:x}] {:<55}", name, number, names.symbol_with_offset(number));
    case FieldView::kExecName:
      return fmt::format("{}: {:<16}[{:10}]", name, comm, number);
    case FieldView::kSyscall:
      return fmt::format("{}: {:<30}[{:3}]", name, syscall_name(number), number);
    case FieldView::kLog2:
      return fmt::format("{}: ~ 2^{:<2}", name, number);
    case FieldView::kBuckets:
      return fmt::format("{}: ~ {}-{}", name, number, number + field.width - 1);
    default:
      break;
  }
  if (field.is_text()) return fmt::format("{}: {:<50}", name, text_at(key, offset, size));
  return fmt::format("{}: {:10}", name, number);
}

}  // namespace

std::vector<std::uint32_t> key_offsets(const Histogram& histogram) {
  std::vector<std::uint32_t> offsets;
  std::uint32_t offset = 0;
  for (const std::uint32_t size : histogram.table->shape.key_sizes) {
    offsets.push_back(offset);
    offset += size;
  }
  return offsets;
}

std::uint64_t number_at(std::span<const std::byte> key, std::uint32_t offset) {
  std::uint64_t number = 0;
  std::memcpy(&number, key.data() + offset, sizeof number);
  return number;
}

std::string key_text(const Histogram& histogram, std::span<const std::byte> key, const std::string& comm,
                     AddressNames& names) {
  std::string text = "{ ";
  std::uint32_t offset = 0;
  bool has_lines = false;
  for (std::size_t i = 0; i < histogram.keys.size(); ++i) {
    if (i > 0) text += ", ";
    const HistogramField& field = *histogram.keys[i];
    const std::uint32_t size = histogram.table->shape.key_sizes[i];
    text += part_text(field, key, offset, size, comm, names);
    offset += size;
    has_lines = has_lines || field.is_stack();
  }
  return text + (has_lines ? "}" : " }");
}

}  // namespace landtrace::domain
