// Lines with the options raw, hex and bin. As in the kernel, user events have no such form: their number is shown.
#pragma once

#include <string>

#include "output/record.hpp"

namespace landtrace::output {

// `context`: task, CPU and time come first, as numbers.
void append_raw_line(std::string& out, const Record& record, const EventType* type, bool context);
void append_hex_line(std::string& out, const Record& record, const EventType* type, bool context);
void append_bin_line(std::string& out, const Record& record, const EventType* type, bool context);

}  // namespace landtrace::output
