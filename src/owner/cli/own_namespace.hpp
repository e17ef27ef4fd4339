// A mount namespace for this process and what it starts.
#pragma once

#include "base/result.hpp"

namespace landtrace::cli {

// The ids that the caller has inside. kRoot: user and group 0, as far as that namespace goes.
enum class Ids { kSame, kRoot };

// Gives the process a private mount namespace: root has it for the asking, a user in a user namespace of its own,
// where the process may mount. What is mounted outside from here on appears inside, not the other way round. For a
// process with one thread. EPERM with a sentence that says what forbids it.
Result<void> enter_own_namespace(Ids ids);

}  // namespace landtrace::cli
