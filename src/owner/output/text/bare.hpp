// Lines with the options raw, hex and bin. User events have no such form in the kernel either: they show their number.
#pragma once

#include <string>

#include "output/record.hpp"

namespace landtrace::output {

// `context`: the numbers of task and CPU and the time stand before it.
void append_raw_line(std::string& out, const Record& record, const EventType* type, bool context);
void append_hex_line(std::string& out, const Record& record, const EventType* type, bool context);
void append_bin_line(std::string& out, const Record& record, const EventType* type, bool context);

}  // namespace landtrace::output
