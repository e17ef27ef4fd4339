// What the text of a field's type says by itself. Internal to the event layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "event/declaration.hpp"

namespace landtrace::event {

// An integer type that a declaration may name. `long` is not among them: its size depends on the program.
struct IntegerType {
  std::string_view name;
  std::uint32_t size;
  std::string_view conversion;  // as `print fmt` shows it
};
// nullptr for other types.
const IntegerType* find_integer_type(std::string_view type);

bool is_struct(std::string_view type);
bool is_data_loc(std::string_view type);
bool is_rel_loc(std::string_view type);
// Whether dynamic data of this type is text. The kernel goes by the word alone, wherever it stands.
bool mentions_char(std::string_view type);

// Bytes of a field whose declaration gives no size; nullopt when the type is not one that has a size.
std::optional<std::uint32_t> size_of_type(std::string_view type);

FieldKind kind_of(std::string_view type, std::uint32_t size);

// A number as the kernel reads it from text: an optional '+', digits, at most one newline behind. Base 0
// takes 0x… as hexadecimal and 0… as octal. nullopt for anything else, and for what 32 bits do not hold.
std::optional<std::uint32_t> parse_number(std::string_view text, int base);

}  // namespace landtrace::event
