// A field of an event, or one that every event has, as a histogram's: NAME or NAME.VIEW.
#pragma once

#include "rules/domain_names.hpp"
#include "rules/histograms/histogram.hpp"
#include "language/histogram/mistakes.hpp"

namespace landtrace::rules {

// `made` says what it is to be. EINVAL where there is no such field or view, ENOMEM for one that is no number and no
// text.
Result<FieldPtr> field_of_event(std::string_view text, const Event& event, Histogram& histogram, HistogramField made,
                                language::HistComplaints& complaints);

}  // namespace landtrace::rules
