// Waiting for perf events of the domain: nobody tells this process of them, so it looks now and then while it waits.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include "arch/clock.hpp"
#include "bpf_calls/map_memory.hpp"
#include "bpf_calls/perf_buffers.hpp"
#include "bpf_calls/timers.hpp"
#include "preload/perf_events.hpp"
#include "preload/real.hpp"

namespace landtrace::preload {
namespace {

constexpr std::uint64_t kSecond_ns = 1'000'000'000;
constexpr std::uint64_t kShortest_ns = 500'000;
constexpr std::uint64_t kLongest_ns = 10'000'000;

timespec as_timespec(std::uint64_t ns) {
  return {static_cast<time_t>(ns / kSecond_ns), static_cast<long>(ns % kSecond_ns)};
}

// Holds signals back while the rings are filled, so that one that comes then ends the wait as it would end a system
// call.
class SignalsHeld {
 public:
  SignalsHeld() {
    ::sigfillset(&all_);
    sigset_t held;
    ::pthread_sigmask(SIG_SETMASK, &all_, &held);
    // Not before: it would come before the first look.
    before_ = without_held_signal(held);
  }
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  [[nodiscard]] const sigset_t& before() const { return before_; }
  [[nodiscard]] const sigset_t& all() const { return all_; }

 private:
  sigset_t all_{};
  sigset_t before_{};
};

// Calls wait(timeout in ns, mask) until it returns something else than 0, or the time is up: the last look is behind
// that. A signal comes last, as in the kernel: what was emitted before it (by a child of which SIGCHLD tells) is there
// first. `mask` is the program's for the time of the wait, or nullptr.
template <typename Wait>
int wait_in_slices(bool is_endless, std::uint64_t timeout_ns, const sigset_t* mask, const Wait& wait) {
  const SignalsHeld held;
  const std::uint64_t end = arch::monotonic_ns() + timeout_ns;
  std::uint64_t slice = kShortest_ns;
  for (;;) {
    const std::uint64_t now = arch::monotonic_ns();
    slice = pull_perf_events() ? kShortest_ns : std::min(slice * 2, kLongest_ns);
    slice = std::min(slice, std::max(bpf_calls::next_timer_ns(), kShortest_ns));
    const std::uint64_t left = is_endless ? kLongest_ns : end > now ? end - now : 0;
    const int result = wait(std::min(slice, left), mask != nullptr ? mask : &held.before());
    if (result < 0 && errno == EINTR) {
      std::ignore = pull_perf_events();
      const int ready = wait(0, &held.all());
      if (ready == 0) errno = EINTR;
      return ready == 0 ? result : ready;
    }
    if (result != 0 || (!is_endless && now >= end)) return result;
  }
}

bool has_perf_event(const pollfd* fds, nfds_t count) {
  // The compiler takes what poll() is given for memory that nobody has written yet: it is not to know whose that is.
  asm("" : "+r"(fds));
  return std::any_of(fds, fds + count, [](const pollfd& one) {
    const FdEntry entry = FdTable::get(one.fd);
    if (is_perf_event(entry)) return entry.slot != kPerfDummy;
    if (one.fd < 0 || !bpf_calls::has_descriptors()) return false;
    return bpf_calls::is_perf_buffer(one.fd) || bpf_calls::is_mapped_ring(one.fd);
  });
}

int poll_events(pollfd* fds, nfds_t count, bool is_endless, std::uint64_t timeout_ns, const sigset_t* mask) {
  return wait_in_slices(is_endless, timeout_ns, mask, [&](std::uint64_t ns, const sigset_t* during) {
    const timespec slice = as_timespec(ns);
    const int ready = real().ppoll(fds, count, &slice, during);
    if (ready < 0) return ready;
    if (ready > 0) perf_events_polled(fds, count);
    return ready + mark_hung_up(fds, count);
  });
}

int wait_for_events(int fd, epoll_event* events, int most, bool is_endless, std::uint64_t timeout_ns,
                    const sigset_t* mask) {
  return wait_in_slices(is_endless, timeout_ns, mask, [&](std::uint64_t ns, const sigset_t* during) {
    const int ms = static_cast<int>((ns + 999'999) / 1'000'000);
    return real().epoll_pwait(fd, events, most, ms, during);
  });
}

int wait_for_events(int fd, epoll_event* events, int most, int timeout_ms, const sigset_t* mask) {
  const std::uint64_t ns = timeout_ms < 0 ? 0 : static_cast<std::uint64_t>(timeout_ms) * 1'000'000;
  return wait_for_events(fd, events, most, timeout_ms < 0, ns, mask);
}

bool has_perf_event(int end, const fd_set* read) {
  for (int fd = 0; read != nullptr && fd < end; ++fd) {
    const pollfd one{fd, POLLIN, 0};
    if (FD_ISSET(fd, read) && has_perf_event(&one, 1)) return true;
  }
  return false;
}

// Those that select() finds readable: poll() says that they have hung up.
int add_hung_up(int end, const fd_set& wanted, fd_set& found) {
  int added = 0;
  for (int fd = 0; fd < end; ++fd) {
    pollfd one{fd, POLLIN, 0};
    if (!FD_ISSET(fd, &wanted) || FD_ISSET(fd, &found) || mark_hung_up(&one, 1) == 0) continue;
    FD_SET(fd, &found);
    ++added;
  }
  return added;
}

struct FdSets {
  fd_set* read;
  fd_set* write;
  fd_set* except;
};

int select_events(int end, const FdSets& sets, bool is_endless, std::uint64_t timeout_ns, const sigset_t* mask) {
  // Each slice leaves nothing of what was wanted.
  const auto wanted_of = [](const fd_set* set) { return set == nullptr ? fd_set{} : *set; };
  const fd_set wanted[] = {wanted_of(sets.read), wanted_of(sets.write), wanted_of(sets.except)};
  return wait_in_slices(is_endless, timeout_ns, mask, [&](std::uint64_t ns, const sigset_t* during) {
    *sets.read = wanted[0];
    if (sets.write != nullptr) *sets.write = wanted[1];
    if (sets.except != nullptr) *sets.except = wanted[2];
    const timespec slice = as_timespec(ns);
    const int ready = real().pselect(end, sets.read, sets.write, sets.except, &slice, during);
    if (ready < 0) return ready;
    for (int fd = 0; ready > 0 && fd < end; ++fd) {
      const pollfd found{fd, POLLIN, POLLIN};
      if (FD_ISSET(fd, sets.read)) perf_events_polled(&found, 1);
    }
    return ready + add_hung_up(end, wanted[0], *sets.read);
  });
}

std::uint64_t as_ns(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * kSecond_ns + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace
}  // namespace landtrace::preload

using namespace landtrace::preload;

LT_EXPORT int poll(pollfd* fds, nfds_t count, int timeout) {
  if (__builtin_expect(!perf_is_used, 1) || !has_perf_event(fds, count)) return real().poll(fds, count, timeout);
  return poll_events(fds, count, timeout < 0, timeout < 0 ? 0 : static_cast<std::uint64_t>(timeout) * 1'000'000,
                     nullptr);
}

LT_EXPORT int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  if (__builtin_expect(!perf_is_used, 1) || !has_perf_event(fds, count)) return real().ppoll(fds, count, timeout, mask);
  return poll_events(fds, count, timeout == nullptr, timeout == nullptr ? 0 : as_ns(*timeout), mask);
}

LT_EXPORT int select(int end, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  const bool is_forwarded = __builtin_expect(!perf_is_used, 1) || end > FD_SETSIZE || !has_perf_event(end, read);
  if (is_forwarded) return real().select(end, read, write, except, timeout);
  constexpr std::uint64_t kMicrosecond_ns = 1000;
  const std::uint64_t ns = timeout == nullptr ? 0 : as_ns({timeout->tv_sec, timeout->tv_usec * 1000});
  const std::uint64_t until = landtrace::arch::monotonic_ns() + ns;
  const int ready = select_events(end, {read, write, except}, timeout == nullptr, ns, nullptr);
  if (timeout != nullptr) {
    // As Linux does: what is left of it.
    const std::uint64_t left = until - std::min(until, landtrace::arch::monotonic_ns());
    *timeout = {static_cast<time_t>(left / kSecond_ns), static_cast<suseconds_t>(left % kSecond_ns / kMicrosecond_ns)};
  }
  return ready;
}

LT_EXPORT int pselect(int end, fd_set* read, fd_set* write, fd_set* except, const timespec* timeout,
                      const sigset_t* mask) {
  const bool is_forwarded = __builtin_expect(!perf_is_used, 1) || end > FD_SETSIZE || !has_perf_event(end, read);
  if (is_forwarded) return real().pselect(end, read, write, except, timeout, mask);
  return select_events(end, {read, write, except}, timeout == nullptr, timeout == nullptr ? 0 : as_ns(*timeout), mask);
}

LT_EXPORT int epoll_wait(int fd, epoll_event* events, int most, int timeout) {
  if (__builtin_expect(!perf_is_used, 1)) return real().epoll_wait(fd, events, most, timeout);
  return wait_for_events(fd, events, most, timeout, nullptr);
}

LT_EXPORT int epoll_pwait(int fd, epoll_event* events, int most, int timeout, const sigset_t* mask) {
  if (__builtin_expect(!perf_is_used, 1)) return real().epoll_pwait(fd, events, most, timeout, mask);
  return wait_for_events(fd, events, most, timeout, mask);
}

LT_EXPORT int epoll_pwait2(int fd, epoll_event* events, int most, const timespec* timeout, const sigset_t* mask) {
  if (__builtin_expect(!perf_is_used, 1)) return real().epoll_pwait2(fd, events, most, timeout, mask);
  return wait_for_events(fd, events, most, timeout == nullptr, timeout == nullptr ? 0 : as_ns(*timeout), mask);
}
