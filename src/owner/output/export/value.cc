#include "output/export/value.hpp"

#include <bit>

#include "abi/entry.hpp"
#include "output/field_text.hpp"
#include "output/json/value.hpp"
#include "output/utf8.hpp"

namespace landtrace::output {

bool is_number(const event::Field& field) {
  if (is_text(field)) return false;
  if (event::is_float(field) || event::is_double(field)) return true;
  return field.kind == event::FieldKind::kInteger && field.members.empty() && field.size <= 8 &&
         std::has_single_bit(field.size);
}

FieldValue value_of(const event::Field& field, std::span<const std::byte> payload) {
  if (is_text(field)) return valid_utf8(text_of(field, payload));
  const auto bytes = abi::bytes_at(payload, {field.offset, field.size});
  const bool is_whole = bytes && bytes->size() == field.size;
  if (is_whole && event::is_float(field)) return static_cast<double>(abi::load<float>(bytes->data()));
  if (is_whole && event::is_double(field)) return abi::load<double>(bytes->data());
  if (is_whole && is_number(field)) {
    const std::uint64_t number = abi::load_unsigned(*bytes);
    if (!field.is_signed) return number;
    return static_cast<std::int64_t>(abi::sign_extended(number, field.size));
  }
  std::string text;
  json::append_value(text, field, payload);
  return text;
}

}  // namespace landtrace::output
