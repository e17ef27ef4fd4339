// Files that take definitions, one a line: dynamic_events.
#pragma once

#include <cerrno>
#include <chrono>
#include <functional>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::tracefs {

// So long one writer's lines are run before others get their turn.
inline constexpr std::chrono::milliseconds kTurn(3);

// `run` of a line that can only be run in a moment.
inline constexpr int kNotYet = EINPROGRESS;

// Runs each line up to a '#' in it. The first that fails ends it. EINVAL: a line has more than 4094 bytes. Returns
// the number of bytes taken: when the turn is over not all, but whole lines (takes_turns()). None: not yet.
Result<std::size_t> run_lines(std::string_view bytes, const std::function<Result<void>(std::string_view)>& run,
                              std::chrono::microseconds turn = kTurn);

}  // namespace landtrace::tracefs
