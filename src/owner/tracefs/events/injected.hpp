// The payload that a line of an event's inject file describes: `field = value field = "text"`.
#pragma once

#include <optional>
#include <string>

#include "event/declaration.hpp"

namespace landtrace::tracefs {

struct Injected {
  std::string payload;
  std::optional<std::uint32_t> tid;  // common_pid = …
};

// What is not said is 0 or empty. ENOENT for a field that the event does not have, EINVAL for a value that the field
// cannot take, ERANGE for a number of more than 64 bits.
Result<Injected> parse_injected(const event::Declaration& declaration, std::string_view line);

}  // namespace landtrace::tracefs
