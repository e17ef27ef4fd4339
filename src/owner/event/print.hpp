// A record's payload as the kernel prints it in a trace file: `x=0x7 (7) msg=hello`.
#pragma once

#include <span>
#include <string>

#include "event/declaration.hpp"

namespace landtrace::event {

// Appends the text that stands after "task-pid [cpu] flags time: NAME:", in the kernel's own field notation,
// without the final newline: " x=0x7 (7) msg=hello", or "No fields found" for an event that has none.
// A field that lies outside the payload prints as the kernel has it (<OVERFLOW>); nothing outside is read.
void print_fields(std::string& out, const Declaration& declaration, std::span<const std::byte> payload);

}  // namespace landtrace::event
