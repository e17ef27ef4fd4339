// What a histogram's action gives a synthetic event: whether it fits, and where it goes.
#pragma once

#include "rules/domain_names.hpp"
#include "rules/histograms/field.hpp"
#include "language/histogram/plan_builder.hpp"

namespace landtrace::rules {

inline constexpr const char* kSyntheticSystem = "synthetic";

// Whether the field of that number can have the value.
bool fits_synthetic_field(const Event& synthetic, std::size_t index, const HistogramField& value);

// One parameter for each field of the event.
void place_params(const Event& synthetic, language::HistActionDescription& action);

}  // namespace landtrace::rules
