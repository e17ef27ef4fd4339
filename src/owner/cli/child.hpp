// Programs that this one starts: the CMD of `landtrace record`, servers of a trial.
#pragma once

#include <csignal>
#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/result.hpp"

namespace landtrace::cli {

class Child {
 public:
  enum class Output : std::uint8_t {
    kShared,   // it writes where this process does
    kDropped,  // it reads and writes nothing: it has a log of its own
    kNowhere,  // it neither reads nor writes a terminal: another program draws on that
    kErrors,   // what it writes to standard output goes to standard error: the other has other data
  };
  // Starts `command`, found along $PATH, with the signal mask `mask`. The error is execve's.
  static Result<Child> start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                             const sigset_t& mask, Output output = Output::kShared);
  // The same, for a program of others that is to end with this one however that ends: it gets SIGTERM when this thread
  // does. Before this process has others, whose locks it may need. (Programs of ours: base/end_with_parent.hpp.)
  static Result<Child> start_bound(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                                   const sigset_t& mask, Output output = Output::kShared);

  // Whether it has ended; looks without waiting.
  bool has_ended();
  void send(int signal) const;

  // After its end: its exit status, or 128 + the signal that killed it.
  [[nodiscard]] int exit_status() const { return exit_status_; }

 private:
  explicit Child(pid_t pid) : pid_(pid) {}

  pid_t pid_;
  bool ended_ = false;
  int exit_status_ = 0;
};

}  // namespace landtrace::cli
