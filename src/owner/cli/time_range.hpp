// --from and --to, of commands that read a recording.
#pragma once

#include <algorithm>
#include <string>

#include "cli/command_line.hpp"
#include "cli/quantity.hpp"

namespace landtrace::cli {

struct TimeRange {
  std::string from;
  std::string to;

  void add_to(Command& command, const std::string& verb) {
    command.option("--from", from, "Time of the first event to " + verb, {.type = "SECONDS"});
    command.option("--to", to, "Time of the last event to " + verb, {.type = "SECONDS"});
  }

  // What is not given stays as it is.
  Result<void> parse(std::uint64_t& from_ns, std::uint64_t& to_ns) const {
    // Text shows rounded microseconds, so a time copied from there means half a microsecond to each side.
    constexpr std::uint64_t kHalfMicrosecond_ns = 500;
    if (!from.empty()) {
      LT_TRY(from_ns, parse_seconds(from));
      from_ns -= std::min(from_ns, kHalfMicrosecond_ns);
    }
    if (!to.empty()) {
      LT_TRY(to_ns, parse_seconds(to));
      to_ns += kHalfMicrosecond_ns - 1;
    }
    return {};
  }
};

}  // namespace landtrace::cli
