// `landtrace fleet up`: what a fleet takes, on this machine, until ^C.
#pragma once

#include "cli/fleet/helper.hpp"
#include "cli/fleet/order_request.hpp"

namespace landtrace::cli {

// Returns the exit status.
int run_trial(const FleetOptions& options);

}  // namespace landtrace::cli
