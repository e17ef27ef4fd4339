// The program that makes the domain one of many hosts': what it needs of NATS is in that one alone.
#pragma once

#include <sys/types.h>

#include <string>

#include "fleet/address.hpp"

namespace landtrace::daemon {

class FleetProgram {
 public:
  // Its agent, which says at stderr what it cannot do. ENOENT with what to install where there is no such program.
  static Result<FleetProgram> start(const std::string& program, const fleet::AgentOptions& options);
  // It sends what it has counted, for some seconds at most.
  ~FleetProgram();
  FleetProgram(FleetProgram&& other) noexcept;
  FleetProgram& operator=(FleetProgram&&) = delete;
  FleetProgram(const FleetProgram&) = delete;

  // To be asked after SIGCHLD; true once, and how_it_ended() says "with status 1" or "by SIGSEGV".
  [[nodiscard]] bool has_ended();
  [[nodiscard]] const std::string& how_it_ended() const { return how_it_ended_; }

 private:
  FleetProgram() = default;

  pid_t pid_ = -1;
  std::string how_it_ended_;
};

}  // namespace landtrace::daemon
