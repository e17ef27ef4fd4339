// Waiting for perf events of the domain: nobody tells this process of them, so it looks now and then while it waits.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>

#include <algorithm>
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
    sigset_t all;
    ::sigfillset(&all);
    sigset_t held;
    ::pthread_sigmask(SIG_SETMASK, &all, &held);
    // Not before: it would come before the first look.
    before_ = without_held_signal(held);
  }
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

// Calls wait(timeout in ns) until it returns something else than 0, or the time is up.
template <typename Wait>
int wait_in_slices(bool is_endless, std::uint64_t timeout_ns, const Wait& wait) {
  const std::uint64_t end = arch::monotonic_ns() + timeout_ns;
  std::uint64_t slice = kShortest_ns;
  for (;;) {
    slice = pull_perf_events() ? kShortest_ns : std::min(slice * 2, kLongest_ns);
    slice = std::min(slice, std::max(bpf_calls::next_timer_ns(), kShortest_ns));
    const std::uint64_t now = arch::monotonic_ns();
    const std::uint64_t left = is_endless ? kLongest_ns : end > now ? end - now : 0;
    const int result = wait(std::min(slice, left));
    if (result != 0 || (!is_endless && arch::monotonic_ns() >= end)) return result;
  }
}

bool has_perf_event(const pollfd* fds, nfds_t count) {
  return std::any_of(fds, fds + count, [](const pollfd& one) {
    const FdEntry entry = FdTable::get(one.fd);
    if (is_perf_event(entry)) return entry.slot != kPerfDummy;
    return one.fd >= 0 && (bpf_calls::is_perf_buffer(one.fd) || bpf_calls::is_mapped_ring(one.fd));
  });
}

int poll_events(pollfd* fds, nfds_t count, bool is_endless, std::uint64_t timeout_ns, const sigset_t* mask) {
  static const auto next = reinterpret_cast<decltype(&ppoll)>(find_next("ppoll"));
  const SignalsHeld held;
  return wait_in_slices(is_endless, timeout_ns, [&](std::uint64_t ns) {
    const timespec slice = as_timespec(ns);
    const int ready = next(fds, count, &slice, mask != nullptr ? mask : &held.before());
    return ready < 0 ? ready : ready + mark_hung_up(fds, count);
  });
}

int wait_for_events(int fd, epoll_event* events, int most, int timeout, const sigset_t* mask) {
  static const auto next = reinterpret_cast<decltype(&epoll_pwait)>(find_next("epoll_pwait"));
  const SignalsHeld held;
  const bool is_endless = timeout < 0;
  return wait_in_slices(is_endless, is_endless ? 0 : static_cast<std::uint64_t>(timeout) * 1'000'000,
                        [&](std::uint64_t ns) {
                          const int ms = static_cast<int>((ns + 999'999) / 1'000'000);
                          return next(fd, events, most, ms, mask != nullptr ? mask : &held.before());
                        });
}

}  // namespace
}  // namespace landtrace::preload

using namespace landtrace::preload;

LT_EXPORT int poll(pollfd* fds, nfds_t count, int timeout) {
  static const auto next = reinterpret_cast<decltype(&poll)>(find_next("poll"));
  if (__builtin_expect(!perf_is_used, 1) || !has_perf_event(fds, count)) return next(fds, count, timeout);
  return poll_events(fds, count, timeout < 0, timeout < 0 ? 0 : static_cast<std::uint64_t>(timeout) * 1'000'000,
                     nullptr);
}

LT_EXPORT int ppoll(pollfd* fds, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  static const auto next = reinterpret_cast<decltype(&ppoll)>(find_next("ppoll"));
  if (__builtin_expect(!perf_is_used, 1) || !has_perf_event(fds, count)) return next(fds, count, timeout, mask);
  const std::uint64_t ns = timeout == nullptr ? 0
                                              : static_cast<std::uint64_t>(timeout->tv_sec) * 1'000'000'000 +
                                                    static_cast<std::uint64_t>(timeout->tv_nsec);
  return poll_events(fds, count, timeout == nullptr, ns, mask);
}

LT_EXPORT int epoll_wait(int fd, epoll_event* events, int most, int timeout) {
  static const auto next = reinterpret_cast<decltype(&epoll_wait)>(find_next("epoll_wait"));
  if (__builtin_expect(!perf_is_used, 1)) return next(fd, events, most, timeout);
  return wait_for_events(fd, events, most, timeout, nullptr);
}

LT_EXPORT int epoll_pwait(int fd, epoll_event* events, int most, int timeout, const sigset_t* mask) {
  static const auto next = reinterpret_cast<decltype(&epoll_pwait)>(find_next("epoll_pwait"));
  if (__builtin_expect(!perf_is_used, 1)) return next(fd, events, most, timeout, mask);
  return wait_for_events(fd, events, most, timeout, mask);
}
