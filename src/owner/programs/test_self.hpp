// The test's own process as others see it, and a user who may nothing.
#pragma once

#include <unistd.h>

#include <cstdint>

#include "programs/identity.hpp"

namespace landtrace::programs {

inline constexpr Identity kNobody{65534, 65534};

inline std::uint32_t me() { return static_cast<std::uint32_t>(::getpid()); }
inline Identity myself() { return {::geteuid(), ::getegid()}; }
inline std::uint64_t address_of(const void* at) { return reinterpret_cast<std::uint64_t>(at); }

}  // namespace landtrace::programs
