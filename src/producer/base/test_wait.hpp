// What tests wait for.
#pragma once

#include <unistd.h>

#include <chrono>

namespace landtrace {

// Until then, or half a minute, which is much where others have the machine.
template <typename Condition>
bool comes_true(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    ::usleep(1000);
  }
  return true;
}

}  // namespace landtrace
