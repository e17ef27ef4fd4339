// Snapshots that triggers and histograms take: an instance has rings for them as long as one of these may take one.
#pragma once

#include "rules/domain_names.hpp"

namespace landtrace::rules {

// Snapshots may be taken in the instance at any time from here on. EINVAL where there is no buffer for them.
Result<void> hold_snapshot(Instance& instance);
void release_snapshot(Instance& instance);

}  // namespace landtrace::rules
