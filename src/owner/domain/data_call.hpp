// The ioctls of user_events_data as they come through a mount: a command, and an address in the caller's memory.
#pragma once

#include "domain/domain.hpp"

namespace landtrace::domain {

// What thread `tid` of `who` asks of its open file, in parts: the caller's memory may not answer for as long as the
// caller likes (userfaultfd, a hung FUSE mapping), and the domain must not be held meanwhile. The structure and the
// strings are read from its process, as far as `who` may touch that, and results are written there. Errors are the
// kernel's, and EPERM: the process is not to be seen from here (tid 0: it is in another pid namespace), or is not
// `who`'s to touch.
class DataCall {
 public:
  DataCall(Domain& domain, FileId file, std::uint32_t tid, Identity who, unsigned command, std::uint64_t argument)
      : domain_(domain), file_(file), tid_(tid), who_(who), command_(command), argument_(argument) {}

  // All that can be said without looking at the memory. Enters the domain.
  Result<void> begin();
  // Touches the memory, and nothing of the domain: waits for as long as it takes.
  Result<void> read();
  // Returns the system call's result: the place in the page of bytes for the 2021 proposal's registration, else 0.
  // Enters the domain.
  Result<int> carry_out();
  // As read(). As in the kernel, a structure that cannot be written does not undo what was done.
  void answer();

  // After begin(): the process that asks.
  [[nodiscard]] std::uint32_t pid() const { return pid_; }

 private:
  Result<int> register_word();
  Result<int> register_status_bit();
  void touch_word() const;

  Domain& domain_;
  FileId file_;
  std::uint32_t tid_;
  Identity who_;
  unsigned command_;
  std::uint64_t argument_;
  abi::Version abi_{};
  std::uint32_t pid_ = 0;
  std::shared_ptr<programs::AddressSpace> space_;
  abi::DataRequest request_;
  std::uint64_t answer_at_ = 0;
  std::vector<std::uint32_t> answer_;
};

// The whole of it. The caller does not hold the domain.
Result<int> data_request(Domain& domain, FileId file, std::uint32_t tid, Identity who, unsigned command,
                         std::uint64_t argument);

}  // namespace landtrace::domain
