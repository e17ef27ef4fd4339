// The user who asks for something, as the kernel names it (SCM_CREDENTIALS, a FUSE request).
#pragma once

#include <cstdint>

namespace landtrace::programs {

struct Identity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

}  // namespace landtrace::programs
