// Who asks for something, as the kernel says it (SCM_CREDENTIALS).
#pragma once

#include <cstdint>

namespace landtrace::programs {

struct Identity {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
};

}  // namespace landtrace::programs
