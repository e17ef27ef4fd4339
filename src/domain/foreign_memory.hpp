// Reads and writes other processes' memory.
//
// Touching a page that its process handles itself (userfaultfd, a hung FUSE mapping) blocks the toucher, perhaps
// for ever. So all of it happens in a helper thread; if that does not come back in time it is left behind,
// another takes its place, and the process that did this is not touched again.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "domain/address_space.hpp"
#include "domain/patient_worker.hpp"

namespace landtrace::domain {

class ForeignMemory {
 public:
  // The memory of process `pid`, as far as `client` may touch it. EPERM/EACCES where the system does not let it.
  Result<std::shared_ptr<AddressSpace>> open(std::uint32_t pid, Identity client);

  // Sets or clears the bit, refusing (EFAULT) what the process itself could not write, since the mem descriptor
  // writes to read-only pages, too.
  Result<void> check_and_set(const std::shared_ptr<AddressSpace>& space, EnableBit bit, bool on);

  struct Change {
    std::shared_ptr<AddressSpace> space;
    EnableBit bit;
    bool on;
  };
  // All of them. What cannot be written is passed over: its process is gone, has unmapped the word or does not answer.
  void set_all(std::vector<Change> changes);

  // What an ioctl of the process asks for. EFAULT where its memory does not answer; errors as of read_data_request().
  Result<event::DataRequest> read_request(const std::shared_ptr<AddressSpace>& space, event::Abi abi, unsigned command,
                                          std::uint64_t argument);
  // If the process itself could write there; otherwise nothing happens.
  void write(const std::shared_ptr<AddressSpace>& space, std::uint64_t to, std::vector<std::byte> bytes);

 private:
  // Runs the job in the helper thread. False when it did not finish in time: the process is not touched again. The job may
  // go on: it must own what it touches.
  bool visit(const std::shared_ptr<AddressSpace>& space, std::function<void(const AddressSpace&)> job);

  PatientWorker worker_;
};

}  // namespace landtrace::domain
