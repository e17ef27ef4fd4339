#include "output/json/value.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <iterator>
#include <optional>

#include "abi/entry.hpp"
#include "event/description.hpp"
#include "event/probe_fields.hpp"
#include "output/decimal.hpp"
#include "output/json/string.hpp"

namespace landtrace::output::json {
namespace {

using abi::Bytes;
using event::FieldKind;

void append_integer(std::string& out, Bytes bytes, bool is_signed) {
  if (bytes.size() > sizeof(std::uint64_t) || !std::has_single_bit(bytes.size())) return append_hex(out, bytes);
  const std::uint64_t value = abi::load_unsigned(bytes);
  if (!is_signed) return append_decimal(out, value);
  append_decimal(out, static_cast<std::int64_t>(abi::sign_extended(value, static_cast<std::uint32_t>(bytes.size()))));
}

template <typename T>
void append_real(std::string& out, T value) {
  if (std::isfinite(value)) {
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), value);
  } else {
    out += "null";
  }
}

void append_struct(std::string& out, const event::Field& field, Bytes bytes) {
  if (field.type == "struct float" && bytes.size() == sizeof(float)) {
    append_real(out, abi::load<float>(bytes.data()));
  } else if (field.type == "struct double" && bytes.size() == sizeof(double)) {
    append_real(out, abi::load<double>(bytes.data()));
  } else {
    append_hex(out, bytes);
  }
}

void append_members(std::string& out, const event::Field& field, Bytes payload) {
  const bool is_array = field.members.front().name.empty();
  out += is_array ? '[' : '{';
  for (const event::Field& member : field.members) {
    if (&member != &field.members.front()) out += ',';
    if (!is_array) {
      append_string(out, member.name);
      out += ':';
    }
    append_value(out, member, payload);
  }
  out += is_array ? ']' : '}';
}

void append_text(std::string& out, Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  append_string(out, text.substr(0, text.find('\0')));
}

void append_array(std::string& out, Bytes bytes) {
  out += '[';
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) out += ',';
    append_decimal(out, std::to_integer<unsigned>(bytes[i]));
  }
  out += ']';
}

// The data that a dynamic location stands for.
std::optional<Bytes> dynamic_bytes(const event::Field& field, Bytes location, Bytes payload) {
  if (location.size() < sizeof(std::uint32_t)) return std::nullopt;
  const auto word = abi::load<std::uint32_t>(location.data());
  const bool is_relative = field.kind == FieldKind::kRelLocString || field.kind == FieldKind::kRelLocBytes;
  const abi::Location where =
      is_relative ? abi::rel_location(word, std::uint64_t{field.offset} + field.size) : abi::data_location(word);
  // Even if it is empty: it was never set.
  if (where.begin < abi::kEntryHeaderSize) return std::nullopt;
  return abi::bytes_at(payload, where);
}

// The caller says what becomes of an array's elements.
template <typename Append>
void append_elements(std::string& out, Bytes bytes, std::size_t size, Append append) {
  out += '[';
  for (std::size_t at = 0; at + size <= bytes.size(); at += size) {
    if (at > 0) out += ',';
    append(bytes.subspan(at, size));
  }
  out += ']';
}

void append_stack(std::string& out, Bytes stack) {
  append_elements(out, stack, sizeof(std::uint64_t), [&](Bytes one) { append_integer(out, one, false); });
}

void append_dynamic(std::string& out, const event::Field& field, Bytes location, Bytes payload) {
  const std::optional<Bytes> data = dynamic_bytes(field, location, payload);
  if (!data) {
    out += "null";
  } else if (field.kind == FieldKind::kDataLocStack) {
    append_stack(out, *data);
  } else if (field.kind == FieldKind::kDataLocString || field.kind == FieldKind::kRelLocString) {
    append_text(out, *data);
  } else {
    append_array(out, *data);
  }
}

void append_event_probe_array(std::string& out, const event::Field& field, Bytes bytes, Bytes payload) {
  const event::FetchType* const type = event::find_fetch_type(field.fetch);
  if (type == nullptr) return append_hex(out, bytes);
  event::Field element = field;
  element.kind = type->is_text ? FieldKind::kDataLocString : FieldKind::kInteger;
  append_elements(out, bytes, type->size, [&](Bytes one) {
    if (type->is_text) return append_dynamic(out, element, one, payload);
    append_integer(out, one, type->is_signed);
  });
}

}  // namespace

void append_hex(std::string& out, Bytes bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const std::byte b : bytes) {
    out += kDigits[std::to_integer<unsigned>(b) >> 4];
    out += kDigits[std::to_integer<unsigned>(b) & 0xf];
  }
  out += '"';
}

void append_value(std::string& out, const event::Field& field, Bytes payload) {
  const std::optional<Bytes> bytes = abi::bytes_at(payload, {field.offset, field.size});
  if (!bytes) {
    out += "null";
    return;
  }
  switch (field.kind) {
    case FieldKind::kInteger:
      if (std::string_view(field.type) == event::kMemberBool) {
        out += abi::load_unsigned(*bytes) != 0 ? "true" : "false";
        return;
      }
      return append_integer(out, *bytes, field.is_signed);
    case FieldKind::kCharArray:
      return append_text(out, *bytes);
    case FieldKind::kStruct:
      return field.members.empty() ? append_struct(out, field, *bytes) : append_members(out, field, payload);
    case FieldKind::kDataLocString:
    case FieldKind::kRelLocString:
    case FieldKind::kDataLocBytes:
    case FieldKind::kRelLocBytes:
    case FieldKind::kDataLocStack:
      return append_dynamic(out, field, *bytes, payload);
    case FieldKind::kArray:
      return append_event_probe_array(out, field, *bytes, payload);
  }
}

}  // namespace landtrace::output::json
