// An event probe as producers find it.
#pragma once

#include <cstddef>
#include <vector>

#include "event/declaration.hpp"
#include "language/probe/event_probe_command.hpp"

namespace landtrace::rules {

// The plan::EventProbePlan that makes the event in `slot`, declared as `made`, out of the arguments' values.
// `of_synthetic`: they are those of a synthetic event, whose texts have another size.
std::vector<std::byte> event_probe_plan(const std::vector<language::EventProbeArgument>& arguments,
                                        const event::Declaration& made, bool of_synthetic, std::uint32_t slot);

}  // namespace landtrace::rules
