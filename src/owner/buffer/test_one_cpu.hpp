// For tests: a thread that stays where it is.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

namespace landtrace::buffer {

// All that this thread emits is in rings of one CPU.
class OnOneCpu {
 public:
  OnOneCpu() {
    EXPECT_EQ(::sched_getaffinity(0, sizeof before_, &before_), 0);
    cpu_set_t here;
    CPU_ZERO(&here);
    CPU_SET(static_cast<unsigned>(::sched_getcpu()), &here);
    EXPECT_EQ(::sched_setaffinity(0, sizeof here, &here), 0);
  }
  ~OnOneCpu() { ::sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace landtrace::buffer
