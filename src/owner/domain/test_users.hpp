// Who tests say they are.
#pragma once

#include <cstdint>

namespace landtrace {

inline constexpr std::uint32_t kUser = 1000;
inline constexpr std::uint32_t kOtherUser = 1001;

}  // namespace landtrace
