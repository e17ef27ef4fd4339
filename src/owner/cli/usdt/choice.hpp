// Which USDT places "usdt:python3:function__*" means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/probes/probe_text.hpp"

namespace landtrace::cli {

// One probe for each name that the text's is a pattern of, with the object's path and $arg* where it has no arguments.
// A word alone before the name is a provider of CMD's program or of a library of it, or of what the processes have
// loaded, or else an object. ENOENT with a sentence that says what there is instead.
Result<std::vector<ProbeText>> usdt_probes(const ProbeText& text, const std::vector<std::string>& command,
                                           const std::vector<std::uint32_t>& pids);

}  // namespace landtrace::cli
