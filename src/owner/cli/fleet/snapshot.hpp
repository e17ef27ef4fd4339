// `landtrace fleet snapshot`: what hosts have recorded, as it is at one moment, in one trace file.
#pragma once

#include "cli/fleet/helper.hpp"
#include "cli/fleet/order_request.hpp"

namespace landtrace::cli {

// Returns the exit status.
int run_snapshot(const FleetHelper& fleet, const FleetOptions& options);

}  // namespace landtrace::cli
