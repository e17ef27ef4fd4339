#include "output/page/fields.hpp"

#include <bit>

#include "abi/entry.hpp"
#include "event/description.hpp"
#include "output/field_text.hpp"
#include "output/json/value.hpp"
#include "output/text/own_events.hpp"

namespace landtrace::output::page {
namespace {

ValueKind kind_of(const event::Field& field) {
  if (event::is_float(field) || event::is_double(field)) return ValueKind::kReal;
  const bool is_number = field.kind == event::FieldKind::kInteger && field.size <= sizeof(std::uint64_t) &&
                         std::has_single_bit(field.size);
  if (!is_number) return ValueKind::kText;
  if (field.type == event::kMemberBool) return ValueKind::kBool;
  if (field.fetch.starts_with('x') || field.type.find('*') != std::string::npos) return ValueKind::kHex;
  return field.is_signed ? ValueKind::kSigned : ValueKind::kUnsigned;
}

void add_columns(std::vector<FieldColumn>& columns, const event::Field& field, const std::string& before) {
  const bool has_named_members = !field.members.empty() && !field.members.front().name.empty();
  if (!has_named_members) {
    columns.push_back({field, before + field.name, kind_of(field)});
    return;
  }
  for (const event::Field& member : field.members) add_columns(columns, member, before + field.name + '.');
}

void add_text(Column& column, Strings& strings, const event::Field& field, std::span<const std::byte> payload) {
  if (is_text(field)) return column.add(strings.number(text_of(field, payload)));
  std::string value;
  json::append_value(value, field, payload);
  if (value == "null") return column.add_missing();
  const bool is_quoted = value.size() >= 2 && value.front() == '"';
  column.add(strings.number(is_quoted ? std::string_view(value).substr(1, value.size() - 2) : std::string_view(value)));
}

}  // namespace

std::vector<FieldColumn> columns_of(const EventType& type) {
  std::vector<FieldColumn> columns;
  if (is_user_stack(type)) return columns;  // it is the event's stack
  for (const event::Field& field : type.declaration.fields) add_columns(columns, field, "");
  return columns;
}

void add_value(Column& column, Strings& strings, const FieldColumn& field, std::span<const std::byte> payload) {
  if (field.kind == ValueKind::kText) return add_text(column, strings, field.field, payload);
  const auto bytes = abi::bytes_at(payload, {field.field.offset, field.field.size});
  if (!bytes) return column.add_missing();
  if (field.kind == ValueKind::kReal) {
    return column.add_double(event::is_float(field.field) ? abi::load<float>(bytes->data())
                                                          : abi::load<double>(bytes->data()));
  }
  const std::uint64_t value = abi::load_unsigned(*bytes);
  const bool is_signed = field.kind == ValueKind::kSigned;
  column.add(static_cast<std::int64_t>(is_signed ? abi::sign_extended(value, field.field.size) : value));
}

}  // namespace landtrace::output::page
