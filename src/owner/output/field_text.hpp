// A field that holds text, as its bytes.
#pragma once

#include <span>
#include <string_view>

#include "event/declaration.hpp"

namespace landtrace::output {

[[nodiscard]] bool is_text(const event::Field& field);

// Up to its NUL; empty for a location that is outside of the payload. Valid as long as the payload is.
[[nodiscard]] std::string_view text_of(const event::Field& field, std::span<const std::byte> payload);

}  // namespace landtrace::output
