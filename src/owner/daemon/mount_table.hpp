// What is mounted, from /proc/PID/mountinfo.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace landtrace::daemon {

struct MountLine {
  std::string device;  // "MAJOR:MINOR"; a FUSE mount has one of its own
  std::string folder;
  std::string type;
  std::string source;

  [[nodiscard]] bool is_fuse() const { return type == "fuse" || type.starts_with("fuse."); }
};

// The lines of a mountinfo file, without invalid ones.
std::vector<MountLine> parse_mountinfo(std::string_view text);
// The mounts that a process sees ("self", or its pid).
Result<std::vector<MountLine>> mounts_of(const std::string& process);
// The mount at `folder`; if there are several, the topmost.
std::optional<MountLine> find_mount(const std::vector<MountLine>& lines, std::string_view folder);

}  // namespace landtrace::daemon
