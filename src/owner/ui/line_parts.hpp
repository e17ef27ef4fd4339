// A line of trace_pipe, taken apart.
#pragma once

#include <cstdint>
#include <string_view>

namespace landtrace::ui {

//     "        comm-1234    (   1230) [001] .....  5853.601981: system:name: fields"
// The number in parentheses is there with the option record-tgid alone, the system with landtrace-whole-lines.
struct LineParts {
  std::string_view comm;
  std::int32_t tid = 0;
  std::int32_t tgid = 0;  // 0: the line does not say
  std::uint64_t time_us = 0;
  std::string_view event;  // as it stands there
};

// False: it is no event's.
bool parse_line(std::string_view line, LineParts& parts);

// "CPU:1 [LOST 123 EVENTS]": 123; 1 where it does not say how many. 0: it is another line.
std::uint64_t lost_in(std::string_view line);

}  // namespace landtrace::ui
