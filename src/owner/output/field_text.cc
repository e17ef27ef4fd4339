#include "output/field_text.hpp"

#include "abi/entry.hpp"

namespace landtrace::output {
namespace {

using event::FieldKind;

abi::Bytes text_bytes(const event::Field& field, abi::Bytes payload) {
  // The last field may be as long as what is left.
  const std::uint64_t end = abi::kEntryHeaderSize + payload.size();
  const auto rest = static_cast<std::uint32_t>(end > field.offset ? end - field.offset : 0);
  const auto own = abi::bytes_at(payload, {field.offset, field.size == 0 ? rest : field.size});
  if (!own || field.kind == FieldKind::kCharArray) return own.value_or(abi::Bytes());
  if (own->size() < sizeof(std::uint32_t)) return {};
  const auto word = abi::load<std::uint32_t>(own->data());
  const abi::Location where = field.kind == FieldKind::kDataLocString
                                  ? abi::data_location(word)
                                  : abi::rel_location(word, std::uint64_t{field.offset} + field.size);
  return abi::bytes_at(payload, where).value_or(abi::Bytes());
}

}  // namespace

bool is_text(const event::Field& field) {
  return field.kind == FieldKind::kCharArray || field.kind == FieldKind::kDataLocString ||
         field.kind == FieldKind::kRelLocString;
}

std::string_view text_of(const event::Field& field, std::span<const std::byte> payload) {
  const abi::Bytes bytes = text_bytes(field, payload);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

}  // namespace landtrace::output
