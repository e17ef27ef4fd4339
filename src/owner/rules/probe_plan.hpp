// Probes as producers find them.
#pragma once

#include <cstddef>
#include <vector>

#include "event/declaration.hpp"
#include "language/probe/fetch.hpp"

namespace landtrace::rules {

// The plan::EventProbePlan that makes the event in `slot`, declared as `made`, out of the arguments' values.
// `of_synthetic`: they are those of a synthetic event, whose texts have another size.
std::vector<std::byte> event_probe_plan(const std::vector<language::ProbeArgument>& arguments,
                                        const event::Declaration& made, bool of_synthetic, std::uint32_t slot);

// The same for a probe of a place in code, which is `place` bytes from the beginning of its object's file.
std::vector<std::byte> function_probe_plan(const std::vector<language::ProbeArgument>& arguments,
                                           const event::Declaration& made, std::uint64_t place, std::uint32_t slot);

}  // namespace landtrace::rules
