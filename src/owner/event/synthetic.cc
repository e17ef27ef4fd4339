#include "event/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "event/field_type.hpp"
#include "event/gfp_flags.hpp"
#include "event/print_text.hpp"

namespace landtrace::event {
namespace {

constexpr std::array<IntegerType, 16> kNumbers{{
    {"s64", 8, "%lld"},
    {"u64", 8, "%llu"},
    {"s32", 4, "%d"},
    {"u32", 4, "%u"},
    {"s16", 2, "%d"},
    {"u16", 2, "%u"},
    {"s8", 1, "%d"},
    {"u8", 1, "%u"},
    {"char", 1, "%d"},
    {"unsigned char", 1, "%u"},
    {"int", 4, "%d"},
    {"unsigned int", 4, "%u"},
    {"long", 8, "%ld"},
    {"unsigned long", 8, "%lu"},
    {"bool", 1, "%d"},
    {"pid_t", 4, "%d"},
}};
constexpr IntegerType kGfp{"gfp_t", 4, "%x"};

constexpr std::string_view kDataLoc = "__data_loc ";
constexpr std::uint32_t kPlace = 8;

const IntegerType* find_number(std::string_view type) {
  if (type == kGfp.name) return &kGfp;
  const auto* const found =
      std::find_if(kNumbers.begin(), kNumbers.end(), [&](const auto& t) { return t.name == type; });
  return found == kNumbers.end() ? nullptr : found;
}

bool holds(std::string_view type, std::string_view part) { return type.find(part) != std::string_view::npos; }

// N of the "char[N]" that the type holds; 0 without an N.
std::optional<std::uint32_t> text_size(std::string_view type) {
  constexpr std::string_view kStart = "char[";
  constexpr std::size_t kMaxDigits = 3;
  const auto start = type.find(kStart) + kStart.size();
  const auto end = type.find(']');
  if (end == std::string_view::npos || end < start || end + 1 != type.size()) return std::nullopt;
  const std::string_view digits = type.substr(start, end - start);
  if (digits.empty()) return 0;
  const auto size = digits.size() > kMaxDigits ? std::nullopt : parse_number(digits, 0);
  if (!size || *size > kSyntheticText) return std::nullopt;
  return size;
}

void make_dynamic(Field& field, FieldKind kind) {
  field.type.insert(0, kDataLoc);
  field.size = kPlace;
  field.is_signed = true;
  field.kind = kind;
}

std::string_view synthetic_conversion(const Field& field) {
  const IntegerType* const number = find_number(field.type);
  return number == nullptr ? "%s" : number->conversion;
}

void print_number(std::string& out, const Field& field, Bytes bytes) {
  // The kernel takes the value without its sign. It gives one back to values of 4 and 8 bytes alone.
  const std::uint64_t value = abi::load_unsigned(bytes);
  const auto to = std::back_inserter(out);
  const std::string_view conversion = synthetic_conversion(field);
  if (conversion == "%x") {
    fmt::format_to(to, "{:x} ({})", value, gfp_flags_text(value));
  } else if (conversion.ends_with('u')) {
    fmt::format_to(to, "{}", value);
  } else if (bytes.size() == sizeof(std::int32_t)) {
    fmt::format_to(to, "{}", static_cast<std::int32_t>(value));
  } else {
    fmt::format_to(to, "{}", static_cast<std::int64_t>(value));
  }
}

void print_stack(std::string& out, Bytes stack) {
  out += "STACK:\n";
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= stack.size(); at += sizeof(std::uint64_t)) {
    fmt::format_to(std::back_inserter(out), "=> {:#x}\n", abi::load<std::uint64_t>(stack.data() + at));
  }
}

void print_located(std::string& out, const Field& field, Bytes location, Bytes payload) {
  // Others than parse_format() and synthetic_field() may have declared it.
  const bool has_place = location.size() >= sizeof(std::uint32_t);
  const auto data =
      has_place ? abi::bytes_at(payload, abi::data_location(abi::load<std::uint32_t>(location.data()))) : std::nullopt;
  if (!data) {
    out += kOverflow;
  } else if (field.kind == FieldKind::kDataLocStack) {
    print_stack(out, *data);
  } else {
    print_text(out, *data);
  }
}

void print_synthetic_value(std::string& out, const Field& field, Bytes payload) {
  const auto bytes = abi::bytes_at(payload, {field.offset, field.size});
  if (!bytes) {
    out += kOverflow;
  } else if (field.kind == FieldKind::kDataLocStack || field.kind == FieldKind::kDataLocString) {
    print_located(out, field, *bytes, payload);
  } else if (field.kind == FieldKind::kCharArray) {
    // A text longer than declared is in the entry all the same.
    const std::size_t begin = field.offset - abi::kEntryHeaderSize;
    print_text(out, payload.subspan(begin, std::min<std::size_t>(kSyntheticText, payload.size() - begin)));
  } else {
    print_number(out, field, *bytes);
  }
}

std::string synthetic_argument(const Field& field) {
  if (field.kind == FieldKind::kDataLocString) return fmt::format("__get_str({})", field.name);
  if (field.kind == FieldKind::kDataLocStack) return fmt::format("__get_stacktrace({})", field.name);
  return fmt::format("REC->{}", field.name);
}

}  // namespace

Result<Field> synthetic_field(std::string_view type, std::string name) {
  Field field;
  field.type = type;
  field.name = std::move(name);
  field.is_signed = !type.starts_with('u') && type != kGfp.name;
  if (const IntegerType* const number = find_number(type)) {
    field.size = number->size;
    return field;
  }
  if (holds(type, "char[")) {
    const auto size = text_size(type);
    if (!size) return fail(ENOMSG, "the array is none");
    field.size = *size;
    field.kind = FieldKind::kCharArray;
    if (field.size == 0) make_dynamic(field, FieldKind::kDataLocString);
    return field;
  }
  if (!holds(type, "long[")) return fail(EINVAL, fmt::format("synthetic events have no fields of type '{}'", type));
  make_dynamic(field, FieldKind::kDataLocStack);
  return field;
}

Declaration lay_out_synthetic(std::string name, std::vector<Field> fields) {
  Declaration declaration;
  declaration.name = std::move(name);
  declaration.flavour = Flavour::kSynthetic;
  std::uint32_t offset = abi::kEntryHeaderSize;
  for (Field& field : fields) {
    field.offset = offset;
    offset += field.kind == FieldKind::kCharArray ? kSyntheticText : kPlace;
  }
  declaration.fields = std::move(fields);
  declaration.min_size = offset - abi::kEntryHeaderSize;
  return declaration;
}

Result<Declaration> declare_synthetic(std::string name, std::string_view fields) {
  std::vector<Field> made;
  while (!fields.empty()) {
    const std::string_view one = fields.substr(0, fields.find("; "));
    fields.remove_prefix(std::min(one.size() + 2, fields.size()));
    const auto space = one.rfind(' ');
    if (space == std::string_view::npos) return fail(EINVAL, fmt::format("a field without a name: '{}'", one));
    LT_TRY(Field field, synthetic_field(one.substr(0, space), std::string(one.substr(space + 1))));
    made.push_back(std::move(field));
  }
  if (made.size() > kMaxSyntheticFields) return fail(EINVAL, "more fields than a synthetic event can have");
  return lay_out_synthetic(std::move(name), std::move(made));
}

std::string_view synthetic_type_text(const Field& field) {
  const std::string_view type = field.type;
  return type.starts_with(kDataLoc) ? type.substr(kDataLoc.size()) : type;
}

std::string synthetic_print_format(const Declaration& declaration) {
  std::string conversions, arguments;
  for (const Field& field : declaration.fields) {
    if (!conversions.empty()) conversions += ", ";
    fmt::format_to(std::back_inserter(conversions), "{}={}", field.name, synthetic_conversion(field));
    fmt::format_to(std::back_inserter(arguments), ", {}", synthetic_argument(field));
  }
  return fmt::format("\"{}\"{}", conversions, arguments);
}

void print_synthetic(std::string& out, const Declaration& declaration, Bytes payload) {
  for (const Field& field : declaration.fields) {
    fmt::format_to(std::back_inserter(out), " {}=", field.name);
    print_synthetic_value(out, field, payload);
  }
}

}  // namespace landtrace::event
