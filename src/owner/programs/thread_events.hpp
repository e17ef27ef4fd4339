// Threads that begin and end, for the option event-fork: what a thread of an instance's set_event_pid and set_event_notrace_pid
// makes is put into these lists, too, and what ends is taken out.
#pragma once

#include <cstdint>
#include <vector>

#include "programs/proc_connector.hpp"

namespace landtrace::programs {

struct ThreadChange {
  bool begins;           // else it has ended
  std::uint32_t thread;  // its id
  std::uint32_t parent;  // the thread that forked; of a thread that is not a process, its process's first one
};

class ThreadEvents {
 public:
  // Fails as ProcConnector::open().
  static Result<ThreadEvents> subscribe();

  // What has happened since the last call, in its order, as far as the kernel had room for it. Does not wait.
  std::vector<ThreadChange> drain();
  [[nodiscard]] int fd() const { return connector_.fd(); }

 private:
  explicit ThreadEvents(ProcConnector connector) : connector_(std::move(connector)) {}

  ProcConnector connector_;
};

}  // namespace landtrace::programs
