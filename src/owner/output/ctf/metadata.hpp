// The metadata of a CTF 1.8 trace: what its streams hold, in the Trace Stream Description Language.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "output/record.hpp"

namespace landtrace::output::ctf {

using Uuid = std::array<unsigned char, 16>;

// How a field is written.
enum class FieldForm : std::uint8_t {
  kBytes,  // a number as it lies in the payload
  kText,   // a text up to its NUL; what is neither a number nor a text is as JSON has it
};
FieldForm form_of(const event::Field& field);

// Everything before the events. `wall_offset_ns`: from times to nanoseconds since 1970.
std::string preamble(const Uuid& uuid, std::optional<std::int64_t> wall_offset_ns, bool has_stacks);

// The fields of an event, as a struct.
std::string fields_text(const EventType& type);
// The declaration of an event whose fields are these.
std::string event_text(std::uint16_t id, const EventType& type, const std::string& fields);

}  // namespace landtrace::output::ctf
