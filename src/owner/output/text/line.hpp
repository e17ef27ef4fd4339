// Events as the lines of `trace` and `trace_pipe`.
#pragma once

#include <string>

#include "output/record.hpp"
#include "output/stack/user_stack.hpp"
#include "output/text/header.hpp"

namespace landtrace::output {

// Appends the event's line, newline included:
//
//                 app-1234    [003] .....    12.345678: job: id=0x7 (7) name=x
//
// `task` and `type` may be nullptr: "<...>" stands for an unknown task, "Unknown type ID" for an unknown
// event. The time is rounded to microseconds, as the kernel and trace-cmd do.
// `names` are for the frames of stacks; nullptr: addresses.
void append_text_line(std::string& out, const Record& record, const Task* task, const EventType* type,
                      const TextColumns& columns = {}, StackNames* names = nullptr);

// The columns: "             app-1234    [003] .....    12.345678: ".
void append_context(std::string& out, const Record& record, const Task* task, const TextColumns& columns);
// The same in two parts, written at `at`, where there must be room for 160 characters; each returns the end. What
// stands before the time, "             app-1234    [003] .....", and from there on, "    12.345678: ".
char* put_text_place(char* at, const Record& record, const Task* task, const TextColumns& columns);
char* put_text_time(char* at, std::uint64_t time, bool in_ns);
// The text after the columns: "job: id=0x7 (7) name=x\n".
void append_text_body(std::string& out, const Record& record, const EventType* type, StackNames* names = nullptr,
                      const StackStyle& style = {});
// The same with the option `fields`. Events look the same with it; ftrace's own events have no fields to print.
void append_fields_body(std::string& out, const Record& record, const EventType* type);

// "CPU:3 [LOST 12 EVENTS]", or without the number for kLostUnknown.
void append_text_lost(std::string& out, std::uint32_t cpu, std::uint64_t count);

}  // namespace landtrace::output
