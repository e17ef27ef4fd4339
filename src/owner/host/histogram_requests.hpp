// Requests about what histograms have counted.
#pragma once

#include "host/request_context.hpp"

namespace landtrace::host {

// kHistograms, kHistogramEvents.
Response histograms(const Context& c);
Response histogram_events(const Context& c);

}  // namespace landtrace::host
