// Files that take definitions, one a line: dynamic_events.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.hpp"
#include "domain/turn.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

// Runs each line up to a '#' in it. The first that fails ends it. EINVAL: a line has more than 4094 bytes. Returns
// the number of bytes taken: when the turn is over not all, but whole lines (takes_turns()). None: the first line is to
// be run again (kNotYet).
Result<std::size_t> run_lines(std::string_view bytes, const std::function<Result<void>(std::string_view)>& run,
                              const domain::Turn& turn = domain::Turn());

}  // namespace landtrace::tracefs
