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

// Fields that the line does not name are 0 or empty. ENOENT: the event has no such field. EINVAL: the field cannot
// take the value. ERANGE: a number of more than 64 bits.
Result<Injected> parse_injected(const event::Declaration& declaration, std::string_view line);

}  // namespace landtrace::tracefs
