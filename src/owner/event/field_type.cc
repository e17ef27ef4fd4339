#include "event/field_type.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace landtrace::event {
namespace {

constexpr std::array<IntegerType, 14> kIntegerTypes{{
    {"u8", 1, "%u"},
    {"s8", 1, "%d"},
    {"char", 1, "%d"},
    {"unsigned char", 1, "%u"},
    {"u16", 2, "%u"},
    {"s16", 2, "%d"},
    {"short", 2, "%d"},
    {"unsigned short", 2, "%u"},
    {"u32", 4, "%u"},
    {"s32", 4, "%d"},
    {"int", 4, "%d"},
    {"unsigned int", 4, "%u"},
    {"u64", 8, "%llu"},
    {"s64", 8, "%lld"},
}};

constexpr std::uint32_t kMaxArraySize = 1024;
// The kernel looks no further than this behind the '[', and refuses a type that goes on.
constexpr std::size_t kMaxArrayText = 7;

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// N of "char[N]". What stands behind the ']' is part of the type's name and means nothing.
std::optional<std::uint32_t> array_size(std::string_view type) {
  const std::string_view text = type.substr(type.find('[') + 1);
  const auto end = text.find(']');
  if (text.size() > kMaxArrayText || end == std::string_view::npos) return std::nullopt;
  const auto size = parse_number(text.substr(0, end), 0);
  if (!size || *size > kMaxArraySize) return std::nullopt;
  return size;
}

int base_of(std::string_view digits) {
  if (digits.size() > 2 && digits[0] == '0' && (digits[1] | 0x20) == 'x' && is_hex_digit(digits[2])) return 16;
  return digits.starts_with('0') ? 8 : 10;
}

}  // namespace

const IntegerType* find_integer_type(std::string_view type) {
  const auto found = std::find_if(kIntegerTypes.begin(), kIntegerTypes.end(),
                                  [&](const IntegerType& known) { return known.name == type; });
  return found == kIntegerTypes.end() ? nullptr : &*found;
}

bool is_struct(std::string_view type) { return type.starts_with("struct "); }
bool is_data_loc(std::string_view type) { return type.starts_with("__data_loc "); }
bool is_rel_loc(std::string_view type) { return type.starts_with("__rel_loc "); }
bool mentions_char(std::string_view type) { return contains(type, "char"); }

std::optional<std::uint32_t> size_of_type(std::string_view type) {
  if (const auto* integer = find_integer_type(type)) return integer->size;
  if (type.starts_with("char[") || type.starts_with("unsigned char[")) return array_size(type);
  if (is_data_loc(type) || is_rel_loc(type)) return sizeof(std::uint32_t);
  return std::nullopt;
}

FieldKind kind_of(std::string_view type, std::uint32_t size) {
  const bool is_array = contains(type, "[");
  if (size == sizeof(std::uint32_t)) {
    if (is_data_loc(type)) return mentions_char(type) ? FieldKind::kDataLocString : FieldKind::kDataLocBytes;
    if (is_rel_loc(type)) return mentions_char(type) ? FieldKind::kRelLocString : FieldKind::kRelLocBytes;
  }
  if (is_array && mentions_char(type)) return FieldKind::kCharArray;
  const bool is_integer_size = size == 1 || size == 2 || size == 4 || size == 8;
  return is_array || is_struct(type) || !is_integer_size ? FieldKind::kStruct : FieldKind::kInteger;
}

std::optional<std::uint32_t> parse_number(std::string_view text, int base) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (base == 0) base = base_of(text);
  if (base == 16) text.remove_prefix(2);
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || rest != end) return std::nullopt;
  return value;
}

}  // namespace landtrace::event
