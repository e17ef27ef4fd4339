// Threads that begin and end, for the option event-fork. With it the lists of threads whose events an instance takes,
// or leaves (set_event_pid, set_event_notrace_pid), follow forks: a thread that one of the list makes is added, one
// that ends is removed. And for perf events, which also want to know of exec.
#pragma once

#include <cstdint>
#include <vector>

#include "programs/proc_connector.hpp"

namespace landtrace::programs {

struct ThreadChange {
  enum class Kind { kBegins, kEnds, kCallsExec };
  Kind kind;
  std::uint32_t thread;
  // Of one that begins: the thread that forked. The kernel does not tell which thread of a process made another thread
  // of it: then this is the first thread of the process.
  std::uint32_t parent = 0;
  // Of one that begins: whether it is another thread of its parent's process.
  bool is_of_parent = false;
  // By CLOCK_MONOTONIC.
  std::uint64_t time_ns = 0;
};

class ThreadEvents {
 public:
  // Fails as ProcConnector::open() does. Exec is told only `with_exec`.
  static Result<ThreadEvents> subscribe(bool with_exec = false);

  // What has happened since the last call, in its order, without waiting. Changes that did not fit into the buffer are
  // missing.
  std::vector<ThreadChange> drain();
  // Readable when drain() has something to return.
  [[nodiscard]] int fd() const { return connector_.fd(); }

 private:
  explicit ThreadEvents(ProcConnector connector) : connector_(std::move(connector)) {}

  ProcConnector connector_;
};

}  // namespace landtrace::programs
