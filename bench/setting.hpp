// What the supervisor has set up and the measuring process finds.
#pragma once

#include <string>
#include <vector>

namespace landtrace::bench {

// Something to compare with, or why it is not there.
struct Peer {
  std::string where;   // a folder, a session; empty: absent
  std::string absent;  // a sentence

  [[nodiscard]] bool is_there() const { return !where.empty(); }
};

struct Setting {
  std::string folder;  // private, removed at the end
  Peer tracefs;        // where: an instance's folder in the kernel's real tracefs
  Peer lttng;          // where: the name of the session that records the peer's event
  bool quick = false;
  bool json = false;
  int repetitions = 9;
  std::string filter;  // of benchmark names, a regular expression; empty: all

  [[nodiscard]] std::vector<std::string> to_arguments() const;
  static Setting from_arguments(char** arguments);
  static constexpr int kArguments = 9;
};

}  // namespace landtrace::bench
