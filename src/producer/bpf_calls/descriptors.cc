#include "bpf_calls/descriptors.hpp"

#include <new>
#include <utility>
#include <vector>

#include "bpf_calls/perf_buffers.hpp"
#include "bpf_calls/program_load.hpp"
#include "bpf_calls/timers.hpp"

namespace landtrace::bpf_calls {
namespace {

// Whoever holds it for a fork may come again, by other handlers of fork that close descriptors.
pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
std::size_t count = 0;

}  // namespace

Held::Held() {
  sigset_t all_signals;
  ::sigfillset(&all_signals);
  ::pthread_sigmask(SIG_SETMASK, &all_signals, &before_);
  ::pthread_mutex_lock(&mutex);
}

Held::~Held() {
  __atomic_store_n(&count, all().size(), __ATOMIC_RELAXED);
  ::pthread_mutex_unlock(&mutex);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

// Never destroyed: threads may go on after main().
std::map<int, Described>& Held::all() {
  using All = std::map<int, Described>;
  alignas(All) static std::byte memory[sizeof(All)];
  static All* const made = new (memory) All;
  return *made;
}

bool has_descriptors() { return __atomic_load_n(&count, __ATOMIC_RELAXED) != 0; }

// What is let go of is destroyed when the table is not held any more: it may be the last of its kind.
void describe(int fd, Described what) {
  const Held held;
  std::swap(Held::all()[fd], what);
}

Described described(int fd) {
  if (!has_descriptors()) return {};
  const Held held;
  const auto found = Held::all().find(fd);
  return found == Held::all().end() ? Described() : found->second;
}

Described take_descriptor(int fd) {
  if (!has_descriptors()) return {};
  const Held held;
  const auto found = Held::all().find(fd);
  if (found == Held::all().end()) return {};
  Described taken = std::move(found->second);
  Held::all().erase(found);
  return taken;
}

void copy_descriptor(int from, int to) {
  if (!has_descriptors() || from == to) return;
  Described what = described(from);
  if (what.is_nothing()) return forget_descriptor(to);
  describe(to, std::move(what));
}

void forget_descriptors(unsigned first, unsigned last) {
  if (!has_descriptors()) return;
  std::vector<Described> gone;
  const Held held;
  auto& all = Held::all();
  constexpr unsigned kHighest = ~0u >> 1;
  if (first > kHighest) return;
  for (auto at = all.lower_bound(static_cast<int>(first));
       at != all.end() && static_cast<unsigned>(at->first) <= last;) {
    gone.push_back(std::move(at->second));
    at = all.erase(at);
  }
}

void hold_for_fork() { ::pthread_mutex_lock(&mutex); }
void let_go_in_parent() { ::pthread_mutex_unlock(&mutex); }

void be_child() {
  mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
  loads_after_fork();
  perf_buffers_after_fork();
  timers_after_fork();
}

}  // namespace landtrace::bpf_calls
