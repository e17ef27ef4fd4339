// What a program that serves metrics tells the one that has started it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <tuple>

#include "base/fd.hpp"

namespace landtrace::metrics {

// On standard output, which is closed then: that metrics are served. One that ends without it closes that, too.
inline void announce_serving() {
  std::ignore = ::write(STDOUT_FILENO, "serves\n", 7);
  // Nothing else takes its number.
  const Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ::dup2(nothing.get(), STDOUT_FILENO);
}

}  // namespace landtrace::metrics
