// The kernel's clock for its own perf events, where no page says what it makes of the processor's counter (in most
// virtual machines): an event that tells of this process's mappings is asked, by mapping something.
#pragma once

#include <cstdint>
#include <memory>

#include "base/fd.hpp"
#include "base/mapping.hpp"

namespace landtrace::perf {

class KernelClock {
 public:
  // nullptr where the kernel has no event for us.
  static std::unique_ptr<KernelClock> open();
  // In ns, by any thread; 0 where it cannot be had any more. About 3 us.
  std::uint64_t read();

 private:
  bool follow_this_thread();

  Fd event_;
  Mapping memory_;
  int tid_ = 0;  // whose mappings it tells of
};

}  // namespace landtrace::perf
