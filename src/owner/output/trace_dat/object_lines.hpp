// Objects as lines of text in an option of a trace.dat file, as trace.dat has all its lists:
//
//   PID START END BIAS FIRST_SEEN_NS BUILD_ID|- PATH
//
// with addresses and the build id in hex.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "output/stack/object_map.hpp"

namespace landtrace::output::trace_dat {

std::string object_line(const MappedObject& object);
// Invalid lines are ignored.
std::vector<MappedObject> parse_object_lines(std::string_view text);

}  // namespace landtrace::output::trace_dat
