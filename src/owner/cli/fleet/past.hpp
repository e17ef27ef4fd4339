// `landtrace fleet … --last 1h`: what was counted in a time that is over, also by orders that have ended.
#pragma once

#include "cli/fleet/helper.hpp"
#include "cli/fleet/order_request.hpp"
#include "fleet/period.hpp"

namespace landtrace::cli {

// Whether it asks for a time that is over.
bool is_of_past(const FleetOptions& options);
// "10:30", "10:30:05", "2026-11-24", "2026-11-24 10:30", "2h" ago, "@SECONDS" since 1970; in nanoseconds. EINVAL.
Result<std::uint64_t> parse_moment(const std::string& option, const std::string& text, std::uint64_t now_ns);
// EINVAL with a sentence.
Result<fleet::Period> period_of(const FleetOptions& options, std::uint64_t now_ns);

// Of history, show, hist and latency. Returns the exit status.
int run_past(const FleetHelper& fleet, const FleetOptions& options);

}  // namespace landtrace::cli
