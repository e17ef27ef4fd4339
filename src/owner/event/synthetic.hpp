// Synthetic events: their fields, how these lie in an entry, and how they print.
//
// Every field has a place of 8 bytes, the first at 8. A text of fixed length has one of 256 bytes, whatever the length.
// Of `char[]` and `long[]` (a stack) the place holds a __data_loc: where behind all places it is.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "event/declaration.hpp"

namespace landtrace::event {

inline constexpr const char* kSyntheticSystem = "synthetic";
inline constexpr std::size_t kMaxSyntheticFields = 64;
// The longest text of a synthetic event, its NUL included. A text of fixed length takes as much.
inline constexpr std::uint32_t kSyntheticText = 256;

// A field of that type ("unsigned int", "char[16]", "long[]"), without its offset. EINVAL for a type that synthetic
// events do not have; ENOMSG for a text of invalid length, which callers answer in their own way.
Result<Field> synthetic_field(std::string_view type, std::string name);

// The fields laid out.
Declaration lay_out_synthetic(std::string name, std::vector<Field> fields);
// The reverse of fields_text().
Result<Declaration> declare_synthetic(std::string name, std::string_view fields);

// The type as synthetic_events shows it.
std::string_view synthetic_type_text(const Field& field);

std::string synthetic_print_format(const Declaration& declaration);
// Appends " id=2 v=200".
void print_synthetic(std::string& out, const Declaration& declaration, std::span<const std::byte> payload);

}  // namespace landtrace::event
