#include "preload/fd_table.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "base/own_threads.hpp"
#include "base/system_call.hpp"
#include "client/process.hpp"

// Of glibc, from 2.32 on: false once there has been a second thread.
extern "C" {
extern char __libc_single_threaded __attribute__((weak));
}

namespace landtrace::preload {
namespace {

// About a second: whoever has the lock is done in microseconds, but may not be running.
constexpr int kMaxTurns = 10'000;
constexpr int kEagerTurns = 100;

void wait_a_turn(int turn) {
  const timespec pause = {0, 50'000};
  if (turn < kEagerTurns) {
    ::sched_yield();
  } else {
    system_call(SYS_nanosleep, &pause, static_cast<void*>(nullptr));  // not libc's: no errno, and nobody cancels it
  }
}

bool was_ever_threaded() { return &__libc_single_threaded != nullptr && __libc_single_threaded == 0; }

std::uint64_t pack(FdEntry entry) {
  return entry.generation | std::uint64_t{entry.slot} << 32 | std::uint64_t{entry.access} << 48;
}

}  // namespace

std::uint64_t* FdTable::words_ = nullptr;
unsigned FdTable::high_ = 0;
constinit thread_local FdTable::Left FdTable::left_ = FdTable::Left::kNot;

bool FdTable::set(int fd, FdEntry entry) {
  if (has_left() || static_cast<unsigned>(fd) >= kMaxFds) return false;
  // Pairs with the swap below, in another thread.
  if (__atomic_load_n(&words_, __ATOMIC_ACQUIRE) == nullptr) {
    constexpr std::size_t kBytes = kMaxFds * sizeof(std::uint64_t);
    void* const fresh =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED) return false;
    std::uint64_t* nobody = nullptr;
    // Pairs with the acquire loads of words_, here, in get() and in set_if_there().
    if (!__atomic_compare_exchange_n(&words_, &nobody, static_cast<std::uint64_t*>(fresh), false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE)) {
      ::munmap(fresh, kBytes);  // another thread was faster
    }
  }
  unsigned high = __atomic_load_n(&high_, __ATOMIC_RELAXED);
  while (high <= static_cast<unsigned>(fd) && !__atomic_compare_exchange_n(&high_, &high, static_cast<unsigned>(fd) + 1,
                                                                           false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  set_if_there(fd, entry);
  return true;
}

void FdTable::set_if_there(int fd, FdEntry entry) {
  // Pairs with the swap in set().
  std::uint64_t* const words = __atomic_load_n(&words_, __ATOMIC_ACQUIRE);
  if (words == nullptr || static_cast<unsigned>(fd) >= kMaxFds) return;
  // A store only where something changes keeps the table's untouched pages untouched.
  const std::uint64_t word = pack(entry);
  std::uint64_t old = __atomic_load_n(&words[fd], __ATOMIC_RELAXED);
  // Not for ever: in a child that was made without the handlers of fork nobody would unlock it.
  for (int turns = 0; turns < kMaxTurns && (old & kLocked) != 0; ++turns) {
    wait_a_turn(turns);
    // Pairs with the release store in unlock(): what reopen.cc did with the descriptor is done.
    old = __atomic_load_n(&words[fd], __ATOMIC_ACQUIRE);
  }
  // Pairs with the swap in lock().
  if (old != word) __atomic_store_n(&words[fd], word, __ATOMIC_RELEASE);
}

bool FdTable::lock(int fd, FdEntry entry) {
  std::uint64_t word = pack(entry);
  // Pairs with the release stores in set_if_there() and unlock().
  return __atomic_compare_exchange_n(&words_[fd], &word, word | kLocked, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

// Pairs with the acquires in set_if_there() and lock().
void FdTable::unlock(int fd, FdEntry entry) { __atomic_store_n(&words_[fd], pack(entry), __ATOMIC_RELEASE); }

void FdTable::unlock_all() {
  for (unsigned fd = 0; fd < end(); ++fd) {
    if ((words_[fd] & kLocked) != 0) words_[fd] &= ~kLocked;
  }
}

void FdTable::copy(int from, int to) {
  const FdEntry entry = get(from);
  if (entry.generation != 0) {
    set(to, entry);
  } else {
    clear(to);
  }
}

void FdTable::clear_range(unsigned first, unsigned last) {
  const unsigned end = __atomic_load_n(&high_, __ATOMIC_RELAXED);
  for (unsigned fd = first; fd < end && fd <= last; ++fd) clear(static_cast<int>(fd));
}

namespace {

bool is_in_child() { return client::Process::get().is_other_process(static_cast<std::uint32_t>(::getpid())); }

}  // namespace

bool FdTable::has_left() {
  // Nobody says when the thread itself is back.
  if (left_ == Left::kInChild && !is_in_child()) left_ = Left::kNot;
  return left_ != Left::kNot;
}

bool has_own_descriptors() {
  if (FdTable::left_ == FdTable::Left::kNot && is_in_child()) FdTable::left_ = FdTable::Left::kInChild;
  return FdTable::has_left();
}

bool has_company() { return was_ever_threaded() && !has_own_descriptors() && program_has_other_threads(); }

void descriptors_left() {
  FdTable::left_ = FdTable::Left::kForGood;
  client::Process::be_apart(true);
}

void descriptors_after_fork() {
  if (std::exchange(FdTable::left_, FdTable::Left::kNot) != FdTable::Left::kForGood) return;
  client::Process::be_apart(false);
  FdTable::clear_range(0, ~0u);
}

}  // namespace landtrace::preload
