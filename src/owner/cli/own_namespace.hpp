// A mount namespace for this process and what it starts.
#pragma once

#include "base/result.hpp"

namespace landtrace::cli {

// The ids that the caller has inside. kRoot: user and group 0, as far as that namespace goes.
enum class Ids { kSame, kRoot };

// Gives the process a private mount namespace in which it may mount; a user who is not root gets a user namespace,
// too. Later mounts outside appear inside, not the other way round. The process must have one thread. EPERM with a
// sentence that says what forbids it.
Result<void> enter_own_namespace(Ids ids);

}  // namespace landtrace::cli
