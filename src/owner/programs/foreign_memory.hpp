// Reads and writes other processes' memory.
//
// Touching a page that its process handles itself (userfaultfd, a hung FUSE mapping) blocks the toucher, perhaps
// for ever. So all of it happens in a helper thread; if that does not come back in time it is left behind,
// another takes its place, and the process that did this is not touched again.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "programs/address_space.hpp"
#include "programs/patient_worker.hpp"

namespace landtrace::programs {

class ForeignMemory {
 public:
  // The memory of process `pid`, as far as `client` may touch it. EPERM/EACCES where the system does not let it.
  Result<std::shared_ptr<AddressSpace>> open(std::uint32_t pid, Identity client);

  // Sets or clears the bit, refusing (EFAULT) what the process itself could not write, since the mem descriptor
  // writes to read-only pages, too.
  Result<void> check_and_set(const std::shared_ptr<AddressSpace>& space, EnableBit bit, bool on);

  // A word that an earlier owner knew.
  struct KnownWord {
    EnableBit bit;
    std::uint64_t claim;  // see ipc::Claim; 0: none
    bool on;
    // Of a word without a claim: all its bits that were registered. Others that are set say that it is none any more.
    std::uint64_t registered = 0;
  };
  // Sets or clears those of the words that the process still claims, or that still look like one, as check_and_set() does. Which those are, by place in
  // `words`.
  std::vector<bool> take_over(const std::shared_ptr<AddressSpace>& space, const std::vector<KnownWord>& words);

  struct Change {
    std::shared_ptr<AddressSpace> space;
    EnableBit bit;
    bool on;
  };
  // All of them. What cannot be written is passed over: its process is gone, has unmapped the word or does not answer.
  void set_all(std::vector<Change> changes);

 private:
  // Runs the job in the helper thread. False when it did not finish in time: the process is not touched again. The job may
  // go on: it must own what it touches.
  bool visit(const std::shared_ptr<AddressSpace>& space, std::function<void(const AddressSpace&)> job);

  PatientWorker worker_;
};

}  // namespace landtrace::programs
