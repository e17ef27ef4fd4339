// The forks of all processes, as the kernel tells them through its proc connector.
//
// Nobody waits at the socket: it is read when the owner needs to know. A fork is in it before fork() returns to either
// process, so after drain() the owner knows of every fork whose effects anybody can have seen.
#pragma once

#include <cstdint>
#include <vector>

#include "programs/proc_connector.hpp"

namespace landtrace::programs {

class ProcessEvents {
 public:
  static constexpr int kBufferBytes = 16 << 20;

  // Fails as ProcConnector::open() does.
  static Result<ProcessEvents> subscribe(int buffer_bytes = kBufferBytes);

  // Of processes; a thread that begins is none.
  struct Fork {
    std::uint32_t parent;
    std::uint32_t child;
  };
  // The forks since the last call, in their order, without waiting. Sets `lost` if some are missing, because the buffer
  // was full.
  std::vector<Fork> drain(bool& lost);

 private:
  explicit ProcessEvents(ProcConnector connector) : connector_(std::move(connector)) {}

  ProcConnector connector_;
};

}  // namespace landtrace::programs
