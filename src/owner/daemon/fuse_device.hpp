// /dev/fuse, without which nothing can be mounted.
#pragma once

#include "base/result.hpp"

namespace landtrace::daemon {

// Whether this process can open it; the error says why not, and what helps.
Result<void> check_fuse_device();

}  // namespace landtrace::daemon
