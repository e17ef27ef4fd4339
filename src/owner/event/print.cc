#include "event/print.hpp"

#include <fmt/format.h>
#include <iterator>
#include <string_view>

#include "base/character.hpp"
#include "base/digits.hpp"
#include "event/description.hpp"
#include "event/probe_fields.hpp"
#include "event/print_text.hpp"
#include "event/synthetic.hpp"

namespace landtrace::event {
namespace {

// "0x7 (7)". The kernel prints by size alone. The declared sign is ignored: 2 bytes are always unsigned, 4 and 8
// signed.
template <typename Hex, typename Decimal>
void print_hex_and_decimal(std::string& out, Bytes bytes) {
  char text[2 * kMaxDigits + 8] = {'0', 'x'};
  char* at = put_hex(text + 2, abi::load<Hex>(bytes.data()));
  *at++ = ' ';
  *at++ = '(';
  at = put_decimal(at, abi::load<Decimal>(bytes.data()));
  *at++ = ')';
  out.append(text, static_cast<std::size_t>(at - text));
}

void print_byte(std::string& out, std::uint8_t value) {
  char text[kMaxDigits];
  char* at = text;
  if (is_printable(value)) {
    *at++ = '\'';
    *at++ = static_cast<char>(value);
    *at++ = '\'';
  }
  *at++ = '(';
  at = put_decimal(at, value);
  *at++ = ')';
  out.append(text, static_cast<std::size_t>(at - text));
}

void print_number(std::string& out, Bytes bytes) {
  switch (bytes.size()) {
    case 1:
      return print_byte(out, abi::load<std::uint8_t>(bytes.data()));
    case 2:
      return print_hex_and_decimal<std::uint16_t, std::uint16_t>(out, bytes);
    case 4:
      return print_hex_and_decimal<std::uint32_t, std::int32_t>(out, bytes);
    case 8:
      return print_hex_and_decimal<std::uint64_t, std::int64_t>(out, bytes);
    default:
      out += "<INVALID-SIZE>";
  }
}

void print_value(std::string& out, const Field& field, Bytes payload);
void print_bytes(std::string& out, Bytes bytes);

// What the kernel does not know has no form of its: numbers are decimal, by their declared sign.
void print_member_number(std::string& out, const Field& field, Bytes bytes) {
  const std::uint64_t value = abi::load_unsigned(bytes);
  const auto to = std::back_inserter(out);
  if (field.type == kMemberBool) {
    out += value != 0 ? "true" : "false";
  } else if (field.type == "ptr") {
    fmt::format_to(to, "{:#x}", value);
  } else if (field.is_signed) {
    fmt::format_to(to, "{}", static_cast<std::int64_t>(abi::sign_extended(value, field.size)));
  } else {
    fmt::format_to(to, "{}", value);
  }
}

void print_member(std::string& out, const Field& field, Bytes payload) {
  const auto bytes = abi::bytes_at(payload, {field.offset, field.size});
  const bool is_real = field.type == "struct float" || field.type == "struct double";
  if (bytes && field.kind == FieldKind::kInteger) {
    print_member_number(out, field, *bytes);
  } else if (bytes && field.kind == FieldKind::kStruct && field.members.empty() && !is_real) {
    print_bytes(out, *bytes);
  } else {
    print_value(out, field, payload);
  }
}

// "{x=3 y=-4}", "[1,2,3]".
void print_members(std::string& out, const Field& field, Bytes payload) {
  const bool is_array = field.members.front().name.empty();
  out += is_array ? '[' : '{';
  for (const Field& member : field.members) {
    if (&member != &field.members.front()) out += is_array ? ',' : ' ';
    if (!is_array) out.append(member.name).append(1, '=');
    print_member(out, member, payload);
  }
  out += is_array ? ']' : '}';
}

// `struct float NAME 4` and `struct double NAME 8` are how our native API declares what the kernel has no
// type for; any other struct is a number to the kernel.
void print_struct(std::string& out, const Field& field, Bytes bytes) {
  if (field.type == "struct float" && bytes.size() == sizeof(float)) {
    fmt::format_to(std::back_inserter(out), "{}", abi::load<float>(bytes.data()));
  } else if (field.type == "struct double" && bytes.size() == sizeof(double)) {
    fmt::format_to(std::back_inserter(out), "{}", abi::load<double>(bytes.data()));
  } else {
    print_number(out, bytes);
  }
}

void print_bytes(std::string& out, Bytes bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  bool first = true;
  for (const std::byte b : bytes) {
    if (!first) out += ',';
    out += kDigits[std::to_integer<unsigned>(b) >> 4];
    out += kDigits[std::to_integer<unsigned>(b) & 15];
    first = false;
  }
}

void print_dynamic(std::string& out, const Field& field, Bytes location, Bytes payload) {
  const auto word = abi::load<std::uint32_t>(location.data());
  const bool is_relative = field.kind == FieldKind::kRelLocString || field.kind == FieldKind::kRelLocBytes;
  const bool is_text = field.kind == FieldKind::kRelLocString || field.kind == FieldKind::kDataLocString;
  const auto data =
      abi::bytes_at(payload, is_relative ? abi::rel_location(word, std::uint64_t{field.offset} + field.size)
                                         : abi::data_location(word));
  if (!data) {
    out += kOverflow;
  } else if (is_text) {
    print_text(out, *data);
  } else {
    print_bytes(out, *data);
  }
}

void print_value(std::string& out, const Field& field, Bytes payload) {
  const auto bytes = abi::bytes_at(payload, {field.offset, field.size});
  if (!bytes) {
    out += kOverflow;
    return;
  }
  switch (field.kind) {
    case FieldKind::kInteger:
      return print_number(out, *bytes);
    case FieldKind::kStruct:
      return field.members.empty() ? print_struct(out, field, *bytes) : print_members(out, field, payload);
    case FieldKind::kCharArray:
      return print_text(out, *bytes);
    case FieldKind::kDataLocString:
    case FieldKind::kRelLocString:
    case FieldKind::kDataLocBytes:
    case FieldKind::kRelLocBytes:
      return print_dynamic(out, field, *bytes, payload);
    case FieldKind::kDataLocStack:
    case FieldKind::kArray:
      break;  // of other flavours
  }
}

}  // namespace

void print_fields(std::string& out, const Declaration& declaration, Bytes payload) {
  if (declaration.flavour == Flavour::kSynthetic) return print_synthetic(out, declaration, payload);
  if (is_probe(declaration.flavour)) return print_probe(out, declaration, payload);
  if (declaration.fields.empty()) {
    out += "No fields found";
    return;
  }
  for (const Field& field : declaration.fields) {
    out += ' ';
    out += field.name;
    out += '=';
    print_value(out, field, payload);
  }
}

}  // namespace landtrace::event
