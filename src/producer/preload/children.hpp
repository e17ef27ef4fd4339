// What client/process.hpp is told of the calling thread, here and in the agent: that it makes a child which shares its
// memory and runs in its place; and how it knows the time from now on.
#pragma once

#include <cstdint>

#include "arch/thread_time.hpp"

namespace landtrace::preload {

// Until the end of the block, or for so many events.
class ChildExpected {
 public:
  ChildExpected();
  ~ChildExpected();
  ChildExpected(const ChildExpected&) = delete;
  ChildExpected& operator=(const ChildExpected&) = delete;
};
void expect_child_for(std::uint32_t events);
void expect_no_child();
void set_time_source(arch::TimeSource source);

}  // namespace landtrace::preload
