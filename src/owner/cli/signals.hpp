// Waits for the signals that end a recording.
#pragma once

#include <csignal>
#include <optional>

#include "base/fd.hpp"

namespace landtrace::cli {

// From here on a file that reaches its limit (RLIMIT_FSIZE) is a write that fails with EFBIG, as on a full disk, and
// not this program's end. CMD has the signal as ever.
void survive_file_limit();

class Signals {
 public:
  // Blocks SIGINT, SIGTERM, SIGHUP and SIGCHLD in the calling thread and in those that it starts from here
  // on, and ignores SIGPIPE. Before any other thread.
  static Result<Signals> take();

  // The mask from before, for a child.
  [[nodiscard]] const sigset_t& mask_before() const { return before_; }

  struct Arrived {
    int number;
    bool from_terminal;  // CMD, in the same process group, got it, too
  };
  static constexpr int kForEver = -1;
  static constexpr int kNone = -1;
  // The next signal, waiting up to `timeout_ms` for one, or until `other` has POLLERR.
  std::optional<Arrived> wait(int timeout_ms, int other = kNone);

 private:
  Signals(Fd fd, const sigset_t& before) : fd_(std::move(fd)), before_(before) {}

  Fd fd_;
  sigset_t before_;
};

}  // namespace landtrace::cli
