// Other rings for an instance that goes on recording: no event is lost between, and no producer waits.
#pragma once

#include "domain/plans.hpp"

namespace landtrace::domain {

// `next` is where the instance records from here on. Waits (bounded) until no producer writes to what it was, which is
// the caller's then. ENOSPC.
Result<RingPlace> exchange_rings(Instance& instance, const RingPlace& next, Plans& plans, Grace& grace);

// Two sets of rings to be exchanged by triggers from here on, of which the instance has the first now; nullopt: the
// instance stays with the one that it has. ENOSPC.
Result<void> set_flip(Instance& instance, std::optional<Flip> flip, Plans& plans, Cells& cells, Grace& grace);

}  // namespace landtrace::domain
