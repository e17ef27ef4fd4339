// /dev/fuse, which every mount needs.
#pragma once

#include "base/result.hpp"

namespace landtrace::daemon {

// Whether this process can open it. The error says why it cannot, and what helps.
Result<void> check_fuse_device();

}  // namespace landtrace::daemon
