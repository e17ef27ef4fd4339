#include "domain/attention.hpp"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>

namespace landtrace::domain {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kRest{1};        // between two calls
constexpr milliseconds kLookAgain{10};  // where the kernel cannot wait for several words (before 5.16)

// Pairs with the counts in tell_others(), plan/triggers.cc, and in wake(): what was changed before them is seen.
std::uint32_t value_of(const std::uint32_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

// Until one of the words has another value than `seen` says.
void wait_for_change(const std::vector<const std::uint32_t*>& words, const std::vector<std::uint32_t>& seen) {
  std::vector<futex_waitv> waiters(words.size());
  for (std::size_t i = 0; i < words.size(); ++i) {
    waiters[i] = {seen[i], reinterpret_cast<std::uintptr_t>(words[i]), FUTEX_32, 0};
  }
  if (::syscall(SYS_futex_waitv, waiters.data(), waiters.size(), 0, nullptr, 0) < 0 && errno == ENOSYS) {
    std::this_thread::sleep_for(kLookAgain);
  }
}

}  // namespace

Attention::~Attention() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wake();
  if (thread_.joinable()) thread_.join();
}

void Attention::wake() {
  // Pairs with the acquire load in value_of().
  __atomic_fetch_add(&own_word_, 1, __ATOMIC_RELEASE);
  ::syscall(SYS_futex, &own_word_, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Attention::watch(const std::uint32_t* word) {
  {
    const std::lock_guard lock(mutex_);
    words_.push_back(word);
    if (words_.size() == 2) {
      sigset_t all, before;  // signals are for the threads that know what to do with them
      ::sigfillset(&all);
      ::pthread_sigmask(SIG_SETMASK, &all, &before);
      thread_ = std::thread([this] { run(); });
      ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
  }
  wake();
}

void Attention::run() {
  std::vector<std::uint32_t> seen;
  for (;;) {
    std::vector<const std::uint32_t*> words{&own_word_};
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
      words.insert(words.end(), words_.begin(), words_.end());
    }
    std::vector<std::uint32_t> now;
    for (const std::uint32_t* const word : words) now.push_back(value_of(word));
    if (now == seen) {
      wait_for_change(words, seen);
      continue;
    }
    seen = std::move(now);
    {
      const std::lock_guard alone(domain_);
      cells_.spread();
    }
    std::this_thread::sleep_for(kRest);
  }
}

}  // namespace landtrace::domain
