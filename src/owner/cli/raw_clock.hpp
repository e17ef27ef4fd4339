// Clocks whose times are no nanoseconds.
#pragma once

#include <string>

#include "arch/trace_clocks.hpp"

namespace landtrace::cli {

// Of a trace_clock's name. One that is not known is another architecture's, and taken for nanoseconds.
inline bool counts(const std::string& name) {
  const arch::TraceClock* const clock = arch::trace_clock_named(name);
  return clock != nullptr && clock->is_raw();
}

}  // namespace landtrace::cli
