// Fields that somebody wants of a probe, and that its arguments do not have: the parameters of the function, whose
// names its debugging information knows. `hist app:run --keys id` is `hist 'app:run id' --keys id`.
#pragma once

#include <string>
#include <vector>

#include "cli/probes/probe_text.hpp"

namespace landtrace::cli {

// What `fields` (which may have modifiers: "bytes.log2") name besides the probe's arguments and what every event has
// becomes an argument. Returns these. None where a pattern means many functions, or USDT names its own.
std::vector<std::string> add_parameters(ProbeText& probe, const std::vector<std::string>& fields);

// Why the probe could not be defined with these, which the user did not write there.
tl::unexpected<Error> no_such_parameters(const std::string& option, const ProbeText& probe,
                                         const std::vector<std::string>& added, const Error& error);

}  // namespace landtrace::cli
