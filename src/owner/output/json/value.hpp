// A field's value as JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "event/declaration.hpp"

namespace landtrace::output::json {

// Appends the value that `payload` has for the field: integers and `struct float` / `struct double` as
// numbers (null where JSON has none for them), text as a string up to its NUL, dynamic data of other types as
// an array of its bytes, structs that were described as objects, others as a string of hex digits. null when
// the value lies outside the payload.
void append_value(std::string& out, const event::Field& field, std::span<const std::byte> payload);

// "0a1b…", in quotes.
void append_hex(std::string& out, std::span<const std::byte> bytes);

}  // namespace landtrace::output::json
