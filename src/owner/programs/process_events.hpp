// Forks, as the kernel tells them to who listens to its proc connector (netlink).
//
// The socket is read when its owner wants to know, and not before: a fork is announced in it before fork() returns to either
// process, so that whoever drains it knows of every fork that anybody can have seen. What does not fit into it meanwhile is
// lost, and drain() says so.
#pragma once

#include <cstdint>
#include <vector>

#include "programs/proc_connector.hpp"

namespace landtrace::programs {

class ProcessEvents {
 public:
  static constexpr int kBufferBytes = 16 << 20;

  // Fails as ProcConnector::open().
  static Result<ProcessEvents> subscribe(int buffer_bytes = kBufferBytes);

  // Processes, not threads.
  struct Fork {
    std::uint32_t parent;
    std::uint32_t child;
  };
  // The forks since the last call, in their order. Does not wait. `lost` becomes true where some are missing.
  std::vector<Fork> drain(bool& lost);

 private:
  explicit ProcessEvents(ProcConnector connector) : connector_(std::move(connector)) {}

  ProcConnector connector_;
};

}  // namespace landtrace::programs
