// The file that the OBJECT of a probe names.
#pragma once

#include <string>
#include <vector>

#include "cli/probes/probe_text.hpp"

namespace landtrace::cli {

// Its path from the root folder. OBJECT is a path, or a name: of CMD's program, of a library or program of the system,
// of a file in the current folder; without one it is CMD's program. ENOENT with a sentence that says what may have been
// meant, EINVAL for what cannot be probed whatever the function.
Result<std::string> find_probed_object(const ProbeText& probe, const std::vector<std::string>& command);

// Why there is no such function in the file, with what may have been meant; "" where there is one.
std::string missing_function_text(const ProbeText& probe, const std::string& path);

// Why no thread can come to the place, which a kernel would not mind: it is behind the function's end, in the middle of
// an instruction, or in data. "" where one can, and of what is no place by its offset.
std::string misplaced_text(const ProbeText& probe, const std::string& path);

// Of a pattern: that none fits it, with what may have been meant.
std::string nothing_fits_text(const ProbeText& probe, const std::string& path);

// The word before ':' cannot be the system of an event.
bool is_surely_object(const ProbeText& probe);

// Whether the file is found and has the function.
bool has_probed_function(const ProbeText& probe, const std::vector<std::string>& command);

}  // namespace landtrace::cli
