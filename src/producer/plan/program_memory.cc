#include "plan/program_memory.hpp"

#include <signal.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "arch/thread_time.hpp"
#include "base/system_call.hpp"

namespace landtrace::plan {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kWord = sizeof(std::uint64_t);
constinit const void* guard = nullptr;
constinit const std::uint32_t kNoFilters = 0;
constinit const std::uint32_t* filters = &kNoFilters;

// To look at the clock takes as long as all the rest: so many hits look once.
constexpr unsigned kHitsPerLook = 16;

// What a thread has found since it saw the system's clock tick last, or in this hit. A signal handler that comes in
// between may leave other pages there, which are as good.
struct FoundPages {
  static constexpr unsigned kPages = 8;
  std::uint64_t page[kPages];
  unsigned next;
  unsigned hits_before_look;
  bool is_asked;  // whether faults are mended, in this thread
  bool are_mended;
  std::uint64_t tick_ns;
};
constinit thread_local FoundPages found_pages __attribute__((tls_model("initial-exec"))){};

struct Loaded {
  std::uint64_t word;
  std::uint64_t failed;
};

#if defined(__x86_64__) || defined(__aarch64__)

extern "C" Loaded landtrace_load_word(std::uint64_t address);
extern "C" __attribute__((visibility("hidden"))) void landtrace_load_failed(void);

// clang-format off
#if defined(__x86_64__)
#define LT_LOAD "movq (%rdi), %rax\n\t"
#define LT_LOADED(failed) "movl $" #failed ", %edx\n\t"
#else
#define LT_LOAD "ldr x0, [x0]\n\t"
#define LT_LOADED(failed) "mov x1, #" #failed "\n\t"
#endif
asm(".pushsection .text\n\t"
    ".globl landtrace_load_word\n\t"
    ".hidden landtrace_load_word\n\t"
    ".type landtrace_load_word, @function\n"
    "landtrace_load_word:\n\t"
    ".cfi_startproc\n\t"
    LT_LOAD                       // the handler looks for a fault right here
    LT_LOADED(0)
    "ret\n\t"
    ".globl landtrace_load_failed\n\t"
    ".hidden landtrace_load_failed\n"
    "landtrace_load_failed:\n\t"
    LT_LOADED(1)
    "ret\n\t"
    ".cfi_endproc\n\t"
    ".size landtrace_load_word, . - landtrace_load_word\n\t"
    ".popsection");
// clang-format on

#else

Loaded landtrace_load_word(std::uint64_t) { return {0, 1}; }

#endif

// Reads no more than the eight bytes of a signal set, which do not cross the page.
[[gnu::noinline]] bool is_readable(std::uint64_t page) {
  constexpr int kNoSuchHow = -1;
  return system_call(SYS_rt_sigprocmask, kNoSuchHow, page, 0, kWord) == -EINVAL;
}

// It may kill for a call that the program does not make.
bool may_be_filtered() { return __atomic_load_n(__atomic_load_n(&filters, __ATOMIC_RELAXED), __ATOMIC_RELAXED) != 0; }

// Whether the handlers are ours, and are called in this thread.
bool faults_are_mended() {
  if (may_be_filtered()) return false;
  struct {
    const void* handler;
    std::uint64_t rest[3];  // flags, restorer, mask: as the kernel has them
  } now{};
  std::uint64_t blocked = 0;
  system_call(SYS_rt_sigprocmask, SIG_BLOCK, static_cast<void*>(nullptr), &blocked, kWord);
  for (const int signal : {SIGSEGV, SIGBUS}) {
    if ((blocked >> (signal - 1) & 1) != 0) return false;
    if (system_call(SYS_rt_sigaction, signal, static_cast<void*>(nullptr), &now, kWord) != 0) return false;
    if (now.handler != __atomic_load_n(&guard, __ATOMIC_RELAXED)) return false;
  }
  return true;
}

void forget(FoundPages& found) { std::memset(found.page, 0, sizeof found.page); }

// A hit looks first whether what others have found is good for it.
[[gnu::noinline]] void look(FoundPages& found) {
  if (const std::uint64_t tick_ns = arch::tick_ns(); found.tick_ns != tick_ns) {
    found.tick_ns = tick_ns;
    found.is_asked = false;
    return forget(found);
  }
  if (!found.is_asked) {
    found.are_mended = faults_are_mended();
    found.is_asked = true;
  }
  if (!found.are_mended) return forget(found);
  found.hits_before_look = kHitsPerLook - 1;
}

std::size_t copy_by_kernel(std::uint64_t from, void* to, std::size_t size) {
  const iovec local{to, size};
  const iovec remote{reinterpret_cast<void*>(from), size};
  const long n = system_call(SYS_process_vm_readv, system_call(SYS_getpid), &local, 1, &remote, 1, 0);
  return n < 0 ? 0 : static_cast<std::size_t>(n);
}

// As read_words(), where there is no guard.
template <typename Take>
bool copy_words(std::uint64_t from, const Take& take) {
  std::uint64_t at = from & ~(kWord - 1);
  for (std::uint64_t skipped = from - at, word = 0; at >= kPage; at += kWord, skipped = 0) {
    if (copy_by_kernel(at, &word, kWord) != kWord) return false;
    if (!take(word >> 8 * skipped, kWord - skipped)) return true;
  }
  return false;
}

// The place of the lowest byte that is 0; kWord: none is.
std::size_t end_of_text(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x8080808080808080;
  const std::uint64_t zeros = (word - kOnes) & ~word & kHighs;
  return zeros == 0 ? kWord : static_cast<std::size_t>(__builtin_ctzll(zeros)) / 8;
}

}  // namespace

// The byte below it: there may be nothing where an empty stack begins.
ProgramMemory::ProgramMemory(std::uint64_t stack_pointer) : stack_page_((stack_pointer - 1) & ~(kPage - 1)) {}

bool ProgramMemory::knows(std::uint64_t page) {
  if (page == stack_page_) return true;
  FoundPages& found = found_pages;
  if (!std::exchange(has_begun_, true)) {
    if (found.hits_before_look == 0) {
      look(found);
    } else {
      --found.hits_before_look;
    }
  }
  for (const std::uint64_t one : found.page) {
    if (one == page) return true;
  }
  if (!is_readable(page)) return false;
  found.page[found.next++ % FoundPages::kPages] = page;
  return true;
}

// Gives `take` one piece after the other of at most a word; until that says that it is enough. False where there is no
// more memory. Words lie in one page each; the first page has none.
template <typename Take>
bool ProgramMemory::read_words(std::uint64_t from, const Take& take) {
  std::uint64_t at = from & ~(kWord - 1);
  for (std::uint64_t skipped = from - at; at >= kPage;) {
    if (!knows(at & ~(kPage - 1))) return false;
    do {
      const Loaded loaded = landtrace_load_word(at);
      if (loaded.failed != 0) [[unlikely]] {
        stack_page_ = 0;
        forget(found_pages);
        return false;
      }
      if (!take(loaded.word >> 8 * skipped, kWord - skipped)) return true;
      skipped = 0;
      at += kWord;
    } while (at % kPage != 0);
  }
  return false;
}

std::size_t ProgramMemory::read(std::uint64_t from, void* to, std::size_t size) {
  if (size == 0 || !arch::may_call()) return 0;
  if (__atomic_load_n(&guard, __ATOMIC_RELAXED) == nullptr) return from < kPage ? 0 : copy_by_kernel(from, to, size);
  auto* const bytes = static_cast<char*>(to);
  std::size_t done = 0;
  read_words(from, [&](std::uint64_t word, std::size_t count) {
    const std::size_t taken = std::min(count, size - done);
    std::memcpy(bytes + done, &word, taken);
    done += taken;
    return done < size;
  });
  return done;
}

bool ProgramMemory::read_text(std::uint64_t from, char* to, std::size_t size, std::size_t& length) {
  length = 0;
  if (!arch::may_call()) return false;
  const auto take = [&](std::uint64_t word, std::size_t count) {
    const std::size_t end = end_of_text(count == kWord ? word : word | ~0ull << 8 * count);
    const std::size_t room = size - length;
    if (end < kWord) word &= ~(~0ull << 8 * end);
    if (room >= kWord) [[likely]] {
      std::memcpy(to + length, &word, kWord);
    } else {
      std::memcpy(to + length, &word, room);
    }
    length += std::min(std::min(end + 1, count), room);
    return end >= count && length < size;
  };
  if (size == 0) return true;
  return __atomic_load_n(&guard, __ATOMIC_RELAXED) == nullptr ? copy_words(from, take) : read_words(from, take);
}

void set_filters(const std::uint32_t* count) { __atomic_store_n(&filters, count, __ATOMIC_RELAXED); }

void set_load_guard(const void* handler) { __atomic_store_n(&guard, handler, __ATOMIC_RELAXED); }

bool mend_load_fault(std::int64_t* pc) {
#if defined(__x86_64__) || defined(__aarch64__)
  if (static_cast<std::uintptr_t>(*pc) != reinterpret_cast<std::uintptr_t>(&landtrace_load_word)) return false;
  *pc = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(&landtrace_load_failed));
  return true;
#else
  static_cast<void>(pc);
  return false;
#endif
}

}  // namespace landtrace::plan
