// One thread of another process, traced by the calling thread for a moment.
#pragma once

#include <sys/user.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "attach/seccomp_filter.hpp"
#include "base/result.hpp"

namespace landtrace::attach {

class TracedThread {
 public:
  // EPERM: the system does not let us; ESRCH: it is gone.
  static Result<TracedThread> seize(std::uint32_t tid);
  TracedThread(TracedThread&& other) noexcept;
  TracedThread& operator=(TracedThread&&) = delete;
  // Lets it go. One that never came to a stop is let go by the system when the calling thread ends.
  ~TracedThread();

  // ETIMEDOUT: it did not come to a stop; ESRCH: it has ended; EBUSY: a signal has stopped its process. One that only
  // waits for a processor has longer, up to half a minute. `meanwhile` is called now and then; its error ends it.
  Result<void> stop(std::chrono::milliseconds patience, const std::function<Result<void>()>& meanwhile);
  // While it is stopped.
  Result<user_regs_struct> registers() const;
  Result<void> set_registers(const user_regs_struct& registers) const;
  // In a sequence that the system begins anew where it is interrupted: its place must not be changed behind its back.
  [[nodiscard]] bool is_in_restartable_sequence(std::uint64_t ip) const;
  struct Status {
    bool has_pending_signal = false;  // one that the thread has not blocked
    bool has_filters = false;
  };
  [[nodiscard]] Status status() const;
  // Of seccomp; EACCES: not for us. EMEDIUMTYPE: the system does not have them as they were set.
  [[nodiscard]] Result<std::vector<SeccompFilter>> filters() const;
  // Goes on. True if it was stopped.
  bool let_go();
  // How long it has been stopped at most: since we saw it last before its stop.
  [[nodiscard]] std::chrono::nanoseconds stopped_for() const { return std::chrono::steady_clock::now() - since_; }

 private:
  explicit TracedThread(std::uint32_t tid) : tid_(tid) {}

  std::uint32_t tid_;  // 0: let go
  bool is_stopped_ = false;
  std::chrono::steady_clock::time_point since_{};
};

}  // namespace landtrace::attach
