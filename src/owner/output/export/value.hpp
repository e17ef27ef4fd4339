// A field's value, for formats that tell numbers from texts.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "output/record.hpp"

namespace landtrace::output {

// A text is valid UTF-8. What is neither a number nor a text, as an array or a struct, is as JSON has it.
using FieldValue = std::variant<std::uint64_t, std::int64_t, double, std::string>;

FieldValue value_of(const event::Field& field, std::span<const std::byte> payload);

// Whether its values are numbers, where the payload has them.
[[nodiscard]] bool is_number(const event::Field& field);

}  // namespace landtrace::output
