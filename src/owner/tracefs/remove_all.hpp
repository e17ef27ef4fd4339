// What truncation of dynamic_events and synthetic_events does.
#pragma once

#include <functional>

#include "domain/domain.hpp"
#include "tracefs/node.hpp"

namespace landtrace::tracefs {

// Removes the events that are meant, those that depend on others first. EBUSY, and none is removed, where one is referred to
// by more than what is removed with it. An event that is only listened to ends it halfway, as in the kernel.
Result<void> remove_all(domain::Domain& domain, const Caller& caller,
                        const std::function<bool(const domain::Event&)>& is_meant);

}  // namespace landtrace::tracefs
