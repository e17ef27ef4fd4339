// From a histogram's command to the histogram: all that it names is found, in the kernel's order, so that of several
// mistakes the kernel's is the one that is complained about.
#pragma once

#include "rules/histograms/variables.hpp"

namespace landtrace::rules {

// `definition`: what stands behind "hist:", without the condition. `removes`: its variables may be there already.
// EINVAL, ENOENT, ERANGE, EDOM, ENOMEM.
Result<HistogramPtr> resolve_histogram(Events& events, Instance& instance, const Event& event,
                                       std::string_view definition, bool removes, language::HistComplaints& complaints);

}  // namespace landtrace::rules
