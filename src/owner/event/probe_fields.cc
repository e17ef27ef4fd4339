#include "event/probe_fields.hpp"

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
    out += static_cast<char>(value);  // as kernels do, also of 0
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

// What a flavour has before the arguments: the fields, and how its print format begins.
struct Front {
  Flavour flavour;
  std::string_view conversions;
  std::array<std::string_view, 2> fields;  // "": none
};
constexpr std::array<Front, 3> kFronts{{{Flavour::kEventProbe, "", {}},
                                        {Flavour::kEntryProbe, "(%lx)", {"__probe_ip"}},
                                        {Flavour::kReturnProbe, "(%lx <- %lx)", {"__probe_func", "__probe_ret_ip"}}}};
constexpr std::string_view kAddressType = "unsigned long";

const Front& front_of(Flavour flavour) {
  const auto* const found =
      std::find_if(kFronts.begin(), kFronts.end(), [&](const Front& front) { return front.flavour == flavour; });
  return found == kFronts.end() ? kFronts.front() : *found;
}

std::uint64_t address_in(const Declaration& declaration, std::size_t field, Bytes payload) {
  const Field& from = declaration.fields[field];
  const auto bytes = abi::bytes_at(payload, {from.offset, from.size});
  return bytes ? abi::load_unsigned(*bytes) : 0;
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

Field probe_field(const FetchType& type, std::uint32_t count, std::string name) {
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

Declaration lay_out_probe(Flavour flavour, std::string name, std::vector<Field> fields, std::string attached) {
  Declaration declaration;
  declaration.name = std::move(name);
  declaration.flavour = flavour;
  declaration.attached = std::move(attached);
  auto at = fields.begin();
  for (const std::string_view address : front_of(flavour).fields) {
    if (address.empty()) continue;
    Field field;
    field.type = kAddressType;
    field.name = address;
    field.size = sizeof(std::uint64_t);
    at = fields.insert(at, std::move(field)) + 1;
  }
  std::uint32_t offset = abi::kEntryHeaderSize;
  for (Field& field : fields) {
    field.offset = offset;
    offset += field.size;
  }
  declaration.fields = std::move(fields);
  declaration.min_size = offset - abi::kEntryHeaderSize;
  return declaration;
}

Result<Declaration> declare_probe(Flavour flavour, std::string name, std::string_view fields, std::string attached) {
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
    if (type == nullptr || !count || *count > kMaxProbeArray) {
      return fail(EINVAL, fmt::format("no argument of a probe: '{}'", one));
    }
    made.push_back(probe_field(*type, *count, std::string(one.substr(space + 1))));
  }
  return lay_out_probe(flavour, std::move(name), std::move(made), std::move(attached));
}

std::string probe_print_format(const Declaration& declaration) {
  std::string conversions(front_of(declaration.flavour).conversions), arguments;
  for (const Field& field : declaration.fields) {
    const FetchType* const type = find_fetch_type(field.fetch);
    if (type == nullptr) {
      arguments += fmt::format(", REC->{}", field.name);
      continue;
    }
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

namespace {

// Takes an argument's " NAME=CONVERSION" off the front, and gives the field the type that prints so.
bool take_argument(Field& field, std::string_view& rest) {
  const std::string start = fmt::format(" {}=", field.name);
  if (!rest.starts_with(start)) return false;
  rest.remove_prefix(start.size());
  const bool is_array = rest.starts_with('{');
  if (is_array) rest.remove_prefix(1);
  const std::string_view end_marks = is_array ? ",}" : " \"";
  const std::size_t text = rest.starts_with(kTextConversion) ? kTextConversion.size() : 0;
  const std::string_view conversion = rest.substr(0, rest.find_first_of(end_marks, text));
  std::uint32_t count = 0;
  if (is_array) {
    const std::string_view elements = rest.substr(0, rest.find('}'));
    count = static_cast<std::uint32_t>(std::count(elements.begin(), elements.end(), ',')) + 1;
  }
  const FetchType* const type = find_by_conversion(conversion, field.size / std::max(count, 1u));
  if (type == nullptr || field.size != type->size * std::max(count, 1u)) return false;
  const std::uint32_t offset = field.offset;
  field = probe_field(*type, count, field.name);
  field.offset = offset;
  rest.remove_prefix(is_array ? std::min(rest.find('}') + 1, rest.size()) : conversion.size());
  return true;
}

bool has_front(const std::vector<Field>& fields, const Front& front) {
  return std::equal(fields.begin(),
                    fields.begin() + static_cast<std::ptrdiff_t>(std::min(fields.size(), front.fields.size())),
                    front.fields.begin(),
                    [](const Field& field, std::string_view name) {
                      return name.empty() || (field.name == name && field.size == sizeof(std::uint64_t));
                    }) &&
         (!fields.empty() || front.fields[0].empty()) && (fields.size() > 1 || front.fields[1].empty());
}

bool take_probe_format(Declaration& declaration, std::string_view print_format, const Front& front) {
  std::vector<Field> fields = declaration.fields;
  const std::string start = fmt::format("\"{}", front.conversions);
  if (!print_format.starts_with(start) || fields.empty() || !has_front(fields, front)) return false;
  std::string_view rest = print_format.substr(start.size());
  const auto fixed = static_cast<std::size_t>(
      std::count_if(front.fields.begin(), front.fields.end(), [](std::string_view name) { return !name.empty(); }));
  for (std::size_t i = fixed; i < fields.size(); ++i) {
    if (!take_argument(fields[i], rest)) return false;
  }
  if (!rest.starts_with('"')) return false;
  declaration.fields = std::move(fields);
  declaration.flavour = front.flavour;
  return true;
}

}  // namespace

bool take_probe_format(Declaration& declaration, std::string_view print_format) {
  return std::any_of(kFronts.begin(), kFronts.end(),
                     [&](const Front& front) { return take_probe_format(declaration, print_format, front); });
}

void print_probe(std::string& out, const Declaration& declaration, Bytes payload) {
  const auto to = std::back_inserter(out);
  if (!declaration.attached.empty()) fmt::format_to(to, " ({})", declaration.attached);
  if (declaration.flavour == Flavour::kEntryProbe) {
    fmt::format_to(to, " (0x{:x})", address_in(declaration, 0, payload));
  } else if (declaration.flavour == Flavour::kReturnProbe) {
    fmt::format_to(to, " (0x{:x} <- 0x{:x})", address_in(declaration, 1, payload), address_in(declaration, 0, payload));
  }
  for (const Field& field : declaration.fields) {
    if (field.fetch.empty()) continue;
    fmt::format_to(to, " {}=", field.name);
    print_field(out, field, payload);
  }
}

}  // namespace landtrace::event
