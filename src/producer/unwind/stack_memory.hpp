// Reads a stack without ever faulting, whatever addresses a broken stack leads to.
//
// The stack that a thread was started with is mapped from its stack pointer up to its top, always: it is enough to know
// that the stack pointer is in it. So each thread keeps how far down from the top it has found memory to be readable
// without a hole, and what lies between the stack pointer and the top is read as it is. Pages elsewhere (coroutines,
// alternate signal stacks, what garbage points to) are asked about, each once in a capture, by a system call that
// changes nothing: rt_sigprocmask with an impossible `how` reads its set first, and says EFAULT or EINVAL.
#pragma once

#include "unwind/registers.hpp"

namespace landtrace::unwind {

class StackMemory {
 public:
  explicit StackMemory(std::uint64_t sp);

  // Whole frames are read, with what the address sanitizer puts between their variables.
  [[gnu::no_sanitize_address]] bool read(std::uint64_t address, std::uint64_t& word) {
    if (address - low_ >= size_ && !look_at(address)) return false;
    word = *reinterpret_cast<const std::uint64_t*>(address);
    return true;
  }
  [[nodiscard]] WordReader reader() {
    return {[](void* self, std::uint64_t address, std::uint64_t& word) {
              return static_cast<StackMemory*>(self)->read(address, word);
            },
            this};
  }

 private:
  bool look_at(std::uint64_t address);
  bool page_is_readable(std::uint64_t page);

  static constexpr unsigned kPages = 8;

  // Words that begin in [low_, low_ + size_) are known to be readable.
  std::uint64_t low_ = 0;
  std::uint64_t size_ = 0;
  // The last other pages that were found readable.
  std::uint64_t pages_[kPages] = {};
  unsigned next_page_ = 0;
};

}  // namespace landtrace::unwind
