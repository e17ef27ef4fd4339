// A histogram as the trigger file and the head of the hist file show it.
#pragma once

#include "rules/histograms/histogram.hpp"

namespace landtrace::rules {

// "hist:keys=…:vals=…:sort=…:size=…", up to its condition.
std::string definition_text(const Histogram& histogram);

}  // namespace landtrace::rules
