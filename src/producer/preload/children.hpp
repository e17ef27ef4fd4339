// Children that share the memory of the thread that makes them and run in its place: client/process.hpp is told before.
#pragma once

#include <cstdint>

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

}  // namespace landtrace::preload
