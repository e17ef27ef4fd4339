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

// A place in code, to which arguments of its probes are relative.
struct ProbedPlace {
  std::uint64_t offset = 0;  // in its object's file
  bool is_return = false;
};
// The same for a probe of a place in code.
std::vector<std::byte> function_probe_plan(const std::vector<language::ProbeArgument>& arguments,
                                           const event::Declaration& made, const ProbedPlace& place,
                                           std::uint32_t slot);

}  // namespace landtrace::rules
