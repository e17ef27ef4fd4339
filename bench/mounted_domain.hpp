// A landtraced with a mount, in a process of its own.
#pragma once

#include <cstdint>
#include <string>

#include "child.hpp"
#include "setting.hpp"

namespace landtrace::bench {

// Where the mount is below the run's folder.
inline constexpr const char* kMountFolder = "/mount";

class MountedDomain {
 public:
  // Its rings have `ring_size` per CPU, as --buffer-size has it; what matches `events`, a list for --trace-event, is
  // enabled as it registers.
  MountedDomain(const Setting& setting, const std::string& events, const char* ring_size);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const std::string& socket() const { return socket_; }
  // Events that its rings took so far.
  [[nodiscard]] std::uint64_t written() const;
  // CPU time of all its threads, in ns.
  [[nodiscard]] std::uint64_t cpu_ns() const;

 private:
  std::string folder_;
  std::string socket_;
  Child child_;
};

// Empty, or why nothing can be mounted here.
std::string reason_not_to_mount();

}  // namespace landtrace::bench
