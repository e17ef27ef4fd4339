#include "event/event_probe_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "event/field_type.hpp"
#include "event/print_text.hpp"

namespace landtrace::event {
namespace {

constexpr std::string_view kText = "__data_loc char[]";
constexpr std::string_view kTextConversion = "\\\"%s\\\"";
constexpr std::array<FetchType, 17> kTypes{{
    {"string", kText, 4, true, true, kTextConversion},
    {"ustring", kText, 4, true, true, kTextConversion},
    {"symstr", kText, 4, true, true, kTextConversion},
    {"u8", "u8", 1, false, false, "%u"},
    {"u16", "u16", 2, false, false, "%u"},
    {"u32", "u32", 4, false, false, "%u"},
    {"u64", "u64", 8, false, false, "%Lu"},
    {"s8", "s8", 1, true, false, "%d"},
    {"s16", "s16", 2, true, false, "%d"},
    {"s32", "s32", 4, true, false, "%d"},
    {"s64", "s64", 8, true, false, "%Ld"},
    {"x8", "u8", 1, false, false, "0x%x"},
    {"x16", "u16", 2, false, false, "0x%x"},
    {"x32", "u32", 4, false, false, "0x%x"},
    {"x64", "u64", 8, false, false, "0x%Lx"},
    {"char", "u8", 1, false, false, "'%c'"},
    {"symbol", "u64", 8, false, false, "%pS"},
}};

std::uint32_t count_of(const Field& field, const FetchType& type) {
  return field.kind == FieldKind::kArray ? field.size / type.size : 0;
}

void print_one(std::string& out, const FetchType& type, Bytes bytes, Bytes payload) {
  const auto to = std::back_inserter(out);
  if (type.is_text) {
    const auto text = abi::bytes_at(payload, abi::data_location(abi::load<std::uint32_t>(bytes.data())));
    if (!text) {
      out += kOverflow;
    } else if (text->empty()) {
      out += "(fault)";
    } else {
      out += '"';
      print_text(out, *text);
      out += '"';
    }
    return;
  }
  const std::uint64_t value = abi::load_unsigned(bytes);
  if (type.name == "char") {
    out += '\'';
    if (value != 0) out += static_cast<char>(value);
    out += '\'';
  } else if (type.name.front() == 'x' || type.name == "symbol") {
    fmt::format_to(to, "0x{:x}", value);
  } else if (type.is_signed) {
    fmt::format_to(to, "{}", static_cast<std::int64_t>(abi::sign_extended(value, type.size)));
  } else {
    fmt::format_to(to, "{}", value);
  }
}

void print_field(std::string& out, const Field& field, Bytes payload) {
  const FetchType* const type = find_fetch_type(field.fetch);
  const auto bytes = abi::bytes_at(payload, {field.offset, field.size});
  if (type == nullptr || !bytes) {
    out += kOverflow;
    return;
  }
  const std::uint32_t count = count_of(field, *type);
  if (count == 0) return print_one(out, *type, *bytes, payload);
  for (std::uint32_t i = 0; i < count; ++i) {
    out += i == 0 ? '{' : ',';
    print_one(out, *type, bytes->subspan(std::size_t{i} * type->size, type->size), payload);
  }
  out += '}';
}

// The type of that size among those that print so.
const FetchType* find_by_conversion(std::string_view conversion, std::uint32_t size) {
  const auto* const found = std::find_if(kTypes.begin(), kTypes.end(), [&](const FetchType& type) {
    return type.conversion == conversion && type.size == size;
  });
  return found == kTypes.end() ? nullptr : found;
}

}  // namespace

const FetchType* find_fetch_type(std::string_view name) {
  const auto* const found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& t) { return t.name == name; });
  return found == kTypes.end() ? nullptr : found;
}

Field event_probe_field(const FetchType& type, std::uint32_t count, std::string name) {
  Field field;
  field.type = count == 0 ? std::string(type.format_type) : fmt::format("{}[{}]", type.format_type, count);
  field.name = std::move(name);
  field.size = type.size * std::max(count, 1u);
  field.is_signed = type.is_signed;
  field.kind = count != 0 ? FieldKind::kArray : type.is_text ? FieldKind::kDataLocString : FieldKind::kInteger;
  field.fetch = type.name;
  return field;
}

std::string fetch_text(const Field& field) {
  const FetchType* const type = find_fetch_type(field.fetch);
  if (type == nullptr || field.kind != FieldKind::kArray) return field.fetch;
  return fmt::format("{}[{}]", field.fetch, count_of(field, *type));
}

Declaration lay_out_event_probe(std::string name, std::vector<Field> fields, std::string attached) {
  Declaration declaration;
  declaration.name = std::move(name);
  declaration.flavour = Flavour::kEventProbe;
  declaration.attached = std::move(attached);
  std::uint32_t offset = abi::kEntryHeaderSize;
  for (Field& field : fields) {
    field.offset = offset;
    offset += field.size;
  }
  declaration.fields = std::move(fields);
  declaration.min_size = offset - abi::kEntryHeaderSize;
  return declaration;
}

Result<Declaration> declare_event_probe(std::string name, std::string_view fields, std::string attached) {
  std::vector<Field> made;
  while (!fields.empty()) {
    const std::string_view one = fields.substr(0, fields.find("; "));
    fields.remove_prefix(std::min(one.size() + 2, fields.size()));
    const auto space = one.rfind(' ');
    const std::string_view text = one.substr(0, space == std::string_view::npos ? 0 : space);
    const auto bracket = text.find('[');
    const FetchType* const type = find_fetch_type(text.substr(0, bracket));
    std::optional<std::uint32_t> count = 0;
    if (bracket != std::string_view::npos && text.ends_with(']')) {
      count = parse_number(text.substr(bracket + 1, text.size() - bracket - 2), 10);
    }
    if (type == nullptr || !count || *count > kMaxEventProbeArray) {
      return fail(EINVAL, fmt::format("no argument of an event probe: '{}'", one));
    }
    made.push_back(event_probe_field(*type, *count, std::string(one.substr(space + 1))));
  }
  return lay_out_event_probe(std::move(name), std::move(made), std::move(attached));
}

std::string event_probe_print_format(const Declaration& declaration) {
  std::string conversions, arguments;
  for (const Field& field : declaration.fields) {
    const FetchType* const type = find_fetch_type(field.fetch);
    if (type == nullptr) continue;
    const std::uint32_t count = count_of(field, *type);
    const auto argument = [&](std::string_view name) {
      arguments += type->is_text ? fmt::format(", __get_str({})", name) : fmt::format(", REC->{}", name);
    };
    fmt::format_to(std::back_inserter(conversions), " {}={}", field.name, count == 0 ? "" : "{");
    for (std::uint32_t i = 0; i < std::max(count, 1u); ++i) {
      if (i > 0) conversions += ',';
      conversions += type->conversion;
      argument(count == 0 ? field.name : fmt::format("{}[{}]", field.name, i));
    }
    if (count != 0) conversions += '}';
  }
  return fmt::format("\"{}\"{}", conversions, arguments);
}

bool take_event_probe_format(Declaration& declaration, std::string_view print_format) {
  if (!print_format.starts_with("\" ") || declaration.fields.empty()) return false;
  std::vector<Field> fields = declaration.fields;
  std::string_view rest = print_format.substr(1);
  for (Field& field : fields) {
    const std::string start = fmt::format(" {}=", field.name);
    if (!rest.starts_with(start)) return false;
    rest.remove_prefix(start.size());
    const bool is_array = rest.starts_with('{');
    if (is_array) rest.remove_prefix(1);
    const std::string_view end_marks = is_array ? ",}" : " \"";
    const std::size_t text = rest.starts_with(kTextConversion) ? kTextConversion.size() : 0;
    const std::string_view conversion = rest.substr(0, rest.find_first_of(end_marks, text));
    std::uint32_t count = 0;
    if (is_array)
      count =
          static_cast<std::uint32_t>(std::count(
              rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(std::min(rest.find('}'), rest.size())), ',')) +
          1;
    const FetchType* const type = find_by_conversion(conversion, field.size / std::max(count, 1u));
    if (type == nullptr || field.size != type->size * std::max(count, 1u)) return false;
    const std::uint32_t offset = field.offset;
    field = event_probe_field(*type, count, field.name);
    field.offset = offset;
    rest.remove_prefix(is_array ? std::min(rest.find('}') + 1, rest.size()) : conversion.size());
  }
  if (!rest.starts_with('"')) return false;
  declaration.fields = std::move(fields);
  declaration.flavour = Flavour::kEventProbe;
  return true;
}

void print_event_probe(std::string& out, const Declaration& declaration, Bytes payload) {
  if (!declaration.attached.empty()) fmt::format_to(std::back_inserter(out), " ({})", declaration.attached);
  for (const Field& field : declaration.fields) {
    fmt::format_to(std::back_inserter(out), " {}=", field.name);
    print_field(out, field, payload);
  }
}

}  // namespace landtrace::event
