// Messages as they come, in rounds: who sends without end keeps no round from its own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/result.hpp"

namespace landtrace::fleet {

// So many as wait when it begins; where that is none, one if it comes in time. `next` returns a Result of an optional
// one, nullopt where none comes.
template <typename Next, typename Take>
Result<void> take_waiting(std::uint64_t waiting, Next next, Take take) {
  for (std::uint64_t left = std::max<std::uint64_t>(waiting, 1); left > 0; --left) {
    LT_TRY(const auto one, next());
    if (!one) return {};
    LT_CHECK(take(*one));
  }
  return {};
}

}  // namespace landtrace::fleet
