// ftrace's own events: what is written to trace_marker (`print`: an address, and text that brings its newline) and to
// trace_marker_raw (`raw_data`: a number, and bytes), and stacks of user space (`user_stack`: a process, and
// addresses).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "output/record.hpp"

namespace landtrace::output {

// Asked of each event of millions: texts of different lengths are not compared.
inline bool is_of_ftrace(const EventType& type) { return std::string_view(type.system) == "ftrace"; }
inline bool is_marker(const EventType& type) { return is_of_ftrace(type) && type.name == "print"; }
inline bool is_raw_marker(const EventType& type) { return is_of_ftrace(type) && type.name == "raw_data"; }
inline bool is_user_stack(const EventType& type) { return is_of_ftrace(type) && type.name == "user_stack"; }

// The text, without the newline at its end.
std::string_view marker_text(std::span<const std::byte> payload);
// "# 64636261 buf: 01 02 03 00"
void append_raw_marker(std::string& out, std::span<const std::byte> payload);

// The types, with the ids that Linux 6.12 gives them.
EventType marker_type();
EventType raw_marker_type();
// With its `format`, which is the kernel's and has eight addresses. Our records have as many as their length says.
EventType user_stack_type();

}  // namespace landtrace::output
