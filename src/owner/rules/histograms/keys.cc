#include "rules/histograms/keys.hpp"

#include <cstring>

#include "rules/histograms/syscall_names.hpp"

namespace landtrace::rules {
namespace {

using ipc::KeyKind;

KeyKind kind_of(const HistogramField& field) {
  if (field.is_stack()) return KeyKind::kStack;
  switch (field.view) {
    case FieldView::kHex:
      return KeyKind::kHex;
    case FieldView::kSymbol:
      return KeyKind::kSymbol;
    case FieldView::kSymbolOffset:
      return KeyKind::kSymbolOffset;
    case FieldView::kExecName:
      return KeyKind::kExecName;
    case FieldView::kSyscall:
      return KeyKind::kSyscall;
    case FieldView::kLog2:
      return field.width == 0 ? KeyKind::kLog2 : KeyKind::kSteps;
    case FieldView::kBuckets:
      return KeyKind::kRange;
    default:
      break;
  }
  if (field.is_text()) return KeyKind::kText;
  if (field.of_event && event::is_float(*field.of_event)) return KeyKind::kFloat;
  if (field.of_event && event::is_double(*field.of_event)) return KeyKind::kDouble;
  return field.is_signed ? KeyKind::kSigned : KeyKind::kUnsigned;
}

// Grouped fields have lost their sign: the kernel's have none.
std::uint8_t signed_bits_of(const HistogramField& field) {
  if (!field.of_event || field.of_event->kind != event::FieldKind::kInteger || !field.of_event->is_signed) return 0;
  return static_cast<std::uint8_t>(field.of_event->size * 8);
}

std::string text_in(std::span<const std::byte> bytes) {
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  return {text, ::strnlen(text, bytes.size())};
}

std::vector<ipc::HistogramFrame> frames_in(std::span<const std::byte> bytes, AddressNames& names) {
  std::vector<ipc::HistogramFrame> frames;
  for (std::uint32_t i = 0; i < hist::kStackFrames; ++i) {
    const std::uint64_t address = number_at(bytes, 8 * i);
    if (address == 0) break;
    frames.push_back({address, names.frame(address, frames.empty())});
  }
  return frames;
}

ipc::HistogramKeyValue value_of(KeyKind kind, std::span<const std::byte> bytes, const std::string& comm,
                                AddressNames& names) {
  if (kind == KeyKind::kText) return {0, text_in(bytes), {}};
  if (kind == KeyKind::kStack) return {0, "", frames_in(bytes, names)};
  const std::uint64_t number = number_at(bytes, 0);
  switch (kind) {
    case KeyKind::kSymbol:
      return {number, names.symbol(number), {}};
    case KeyKind::kSymbolOffset:
      return {number, names.symbol_with_offset(number), {}};
    case KeyKind::kExecName:
      return {number, comm, {}};
    case KeyKind::kSyscall:
      return {number, std::string(syscall_name(number)), {}};
    default:
      return {number, "", {}};
  }
}

}  // namespace

ipc::HistogramKey key_of(const HistogramField& field) {
  return {kind_of(field), name_of(field), field.width, signed_bits_of(field)};
}

std::vector<ipc::HistogramKeyValue> key_values(const Histogram& histogram, std::span<const std::byte> key,
                                               const std::string& comm, AddressNames& names) {
  std::vector<ipc::HistogramKeyValue> values;
  for (std::size_t i = 0; i < histogram.keys.size(); ++i) {
    const std::uint32_t size = histogram.table->shape.key_sizes[i];
    values.push_back(value_of(kind_of(*histogram.keys[i]), key.first(size), comm, names));
    key = key.subspan(size);
  }
  return values;
}

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

}  // namespace landtrace::rules
