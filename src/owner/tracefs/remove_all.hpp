// Truncation of dynamic_events and synthetic_events.
#pragma once

#include <functional>

#include "domain/turn.hpp"
#include "tracefs/context.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

// Removes the events, those that depend on others first. EBUSY: one of them is referred to by something that stays;
// then none is removed. One that somebody but a recorder listens to also ends it with EBUSY, but halfway, as in the
// kernel. kNotYet: the turn was over, and the rest goes when this is called again.
Result<void> remove_all(Context& context, const Caller& caller,
                        const std::function<bool(const domain::Event&)>& is_meant,
                        std::chrono::microseconds turn = domain::Turn::kLength);

}  // namespace landtrace::tracefs
