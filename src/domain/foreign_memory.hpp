// Reads and writes words in other processes' memory.
//
// Touching a page that its process handles itself (userfaultfd, a hung FUSE mapping) blocks the toucher, perhaps
// for ever. So all of it happens in a helper thread; if that does not come back in time it is left behind,
// another takes its place, and the process that did this is not touched again.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "base/fd.hpp"
#include "domain/identity.hpp"

namespace landtrace::domain {

// A process's memory. The descriptors are bound to the address space: once that is gone (exec, exit) reads and
// writes return 0, whatever process has the pid then.
struct AddressSpace {
  std::uint32_t pid;
  Fd mem;   // /proc/PID/mem
  Fd maps;  // /proc/PID/maps; only for a client whom the owner's own rights must not serve (see must_assume())
  std::uint64_t identity = 0;  // no other program's, and that of its forked children; 0: not known
  std::atomic<bool> unresponsive = false;

  // False once the process has called exec or is gone.
  [[nodiscard]] bool is_alive() const;
};

// Bit `bit` of the word at `address`, which is 4 or 8 bytes wide.
struct EnableBit {
  std::uint64_t address;
  std::uint8_t bit;

  friend bool operator==(const EnableBit&, const EnableBit&) = default;
};

class ForeignMemory {
 public:
  ForeignMemory();
  ~ForeignMemory();

  // The memory of process `pid`, as far as `client` may touch it. EPERM/EACCES where the system does not let it.
  Result<std::shared_ptr<AddressSpace>> open(std::uint32_t pid, Identity client);

  // Sets or clears the bit, refusing (EFAULT) what the process itself could not write, since the mem descriptor
  // writes to read-only pages, too.
  Result<void> check_and_set(const std::shared_ptr<AddressSpace>& space, EnableBit bit, bool on);

  // Copies bytes from the process's memory, at most a page. EFAULT where they cannot be read.
  Result<void> read(const std::shared_ptr<AddressSpace>& space, std::uint64_t address, void* to, std::size_t size);

  struct Change {
    std::shared_ptr<AddressSpace> space;
    EnableBit bit;
    bool on;
  };
  // All of them. What cannot be written is passed over: its process is gone, has unmapped the word or does not answer.
  void set_all(std::vector<Change> changes);

 private:
  class Worker;
  // False when the job did not finish in time. The job may go on: it must own what it touches.
  bool run(std::function<void()> job, std::chrono::microseconds patience);

  std::shared_ptr<Worker> worker_;
};

}  // namespace landtrace::domain
