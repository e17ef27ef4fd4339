#include "tracefs/trace/snapshot_help.hpp"

namespace landtrace::tracefs {

std::string snapshot_help(bool is_allocated, bool of_all_cpus) {
  std::string text = is_allocated ? "#\n# * Snapshot is allocated *\n#\n" : "#\n# * Snapshot is freed *\n#\n";
  text += "# What may be written to this file:\n";
  if (of_all_cpus) {
    text +=
        "#   0        gives the snapshot's room back, and what is in it\n"
        "#   1        makes room where there is none, and swaps snapshot and buffer\n"
        "#   2, 3, …  empties the snapshot, if there is one\n";
  } else {
    text +=
        "#   2, 3, …  empties this CPU's part of the snapshot, if there is one\n"
        "#   0 and 1 are for the snapshot of all CPUs\n";
  }
  return text;
}

}  // namespace landtrace::tracefs
