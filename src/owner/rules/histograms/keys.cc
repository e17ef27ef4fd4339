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

ipc::HistogramKeyValue value_of(KeyKind kind, std::span<const std::byte> bytes, std::string_view comm,
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
      return {number, std::string(comm), {}};
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

RowKeys::RowKeys(const Histogram& histogram, AddressNames& names)
    : names_(names), offsets_(key_offsets(histogram)), sizes_(histogram.table->shape.key_sizes) {
  for (const FieldPtr& field : histogram.keys) {
    keys_.push_back(key_of(*field));
    is_number_.push_back(!ipc::has_text(keys_.back().kind) && keys_.back().kind != KeyKind::kStack);
  }
}

ipc::HistogramKeyValue RowKeys::value(std::size_t number, std::span<const std::byte> key, std::string_view comm) const {
  return value_of(keys_[number].kind, key.subspan(offsets_[number], sizes_[number]), comm, names_);
}

std::uint64_t RowKeys::number(std::size_t number, std::span<const std::byte> key) const {
  return number_at(key, offsets_[number]);
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
