// Events of the kernel that go to the same memory as events of the domain. The kernel writes into a ring of its own
// that this process maps; its records are copied from there.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "perf/output_ring.hpp"
#include "perf/tracker.hpp"

namespace landtrace::perf {

// Whether the descriptor is a perf event of the kernel's.
bool is_kernel_event(int fd);

class KernelOutput {
 public:
  // The program has mapped a kernel's event.
  void mapped(int fd, void* address, std::size_t size);
  // The records of a kernel's event go to `to` from here on, perhaps as another's. The kernel's errno where it does not
  // let us map the event.
  Result<void> take_over(int fd, const std::shared_ptr<OutputRing>& to,
                         const std::optional<Renumbering>& as = std::nullopt);
  // The output of an event of the domain is to be that of a kernel's event, whose ring the program has mapped: memory
  // of ours takes its place. EINVAL where the program has not.
  Result<std::shared_ptr<OutputRing>> replace_memory(int fd);

  // Sees what the kernel has written by now. The outputs copy it: what comes before a sample with that, the rest with
  // copy_rest(), where no sample waits for room. True if there was anything.
  void look();
  bool copy_rest();
  // In a forked child.
  void forget();

 private:
  void join(std::byte* address, std::size_t size, std::optional<Renumbering> as, const std::shared_ptr<OutputRing>& to);

  struct Mapped {
    std::byte* address;
    std::size_t size;
    // Where it was replaced.
    std::weak_ptr<OutputRing> replaced;
  };
  std::map<int, Mapped> mapped_;
  // Which have rings of the kernel's.
  std::vector<std::weak_ptr<OutputRing>> outputs_;
};

}  // namespace landtrace::perf
