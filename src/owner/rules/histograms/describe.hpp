// What producers are to do for a histogram, from its definition.
#pragma once

#include "rules/domain_names.hpp"
#include "rules/histograms/histogram.hpp"

namespace landtrace::rules {

// Its table need not be there yet. `pause`, `event_pause`: cells. EINVAL for a clock that there is not.
Result<language::HistPlanDescription> describe(Events& events, const Instance& instance, const Histogram& histogram,
                                               std::uint32_t pause, std::uint32_t event_pause);

}  // namespace landtrace::rules
