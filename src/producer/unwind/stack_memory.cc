#include "unwind/stack_memory.hpp"

#include <sys/auxv.h>

#include "base/system_call.hpp"

namespace landtrace::unwind {
namespace {

constexpr std::uint64_t kPage = 4096;  // the smallest there is; larger ones are asked about more often
constexpr std::uint64_t kWord = 8;
constexpr std::uint64_t kPageMask = ~(kPage - 1);
// How far a capture goes on with looking for the way down from a thread's top.
constexpr unsigned kLooks = 32;

// The thread's own stack as far as it is known: [low, top).
struct OwnStack {
  std::uint64_t top;  // 0: not looked for yet
  std::uint64_t low;
};

constinit thread_local OwnStack own_stack __attribute__((tls_model("initial-exec"))){};

// Reads no more than the eight bytes of a signal set, which do not cross the page.
bool is_readable(std::uint64_t page) {
  constexpr int kNoSuchHow = -1;
  constexpr std::size_t kSetBytes = 8;
  return system_call(SYS_rt_sigprocmask, kNoSuchHow, page, 0, kSetBytes) == -EINVAL;
}

// glibc keeps a thread's control block at the top of its stack, where it made the stack. The main thread's stack begins
// below what the kernel put there at its start; its control block is elsewhere.
std::uint64_t top_of_stack() {
  const bool is_main = system_call(SYS_getpid) == system_call(SYS_gettid);
  const std::uint64_t inside =
      is_main ? ::getauxval(AT_RANDOM) : reinterpret_cast<std::uint64_t>(__builtin_thread_pointer());
  return (inside & kPageMask) + kPage;
}

}  // namespace

StackMemory::StackMemory(std::uint64_t sp) {
  OwnStack& own = own_stack;
  if (own.top == 0) {
    own.top = top_of_stack();
    own.low = own.top;
  }
  // A thread that is deep in its stack is there after a few captures; until then its pages are asked about.
  for (unsigned i = 0; i < kLooks && sp < own.low && is_readable(own.low - kPage); ++i) own.low -= kPage;
  if (sp < own.low || sp >= own.top) return;
  low_ = sp;
  size_ = own.top - sp - (kWord - 1);
}

bool StackMemory::look_at(std::uint64_t address) {
  const std::uint64_t last = address + kWord - 1;
  if (last < address) return false;
  return page_is_readable(address & kPageMask) &&
         ((last & kPageMask) == (address & kPageMask) || page_is_readable(last & kPageMask));
}

bool StackMemory::page_is_readable(std::uint64_t page) {
  for (const std::uint64_t known : pages_) {
    if (known == page && page != 0) return true;
  }
  if (!is_readable(page)) return false;
  pages_[next_page_++ % kPages] = page;
  return true;
}

}  // namespace landtrace::unwind
