// The commands that the page may have run for it: `landtrace latency` and `landtrace functions`, and of their options
// only those that look at the domain and at files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace landtrace::ui {

struct CommandLine {
  std::vector<std::string> words;  // behind "landtrace"
  bool is_lasting = false;         // prints the newest state, a line each time, until it is stopped
  bool keeps_lines = false;        // prints lines, of which each counts, until it is stopped
};

// EINVAL with a sentence: something is missing, or would be taken for an option.
Result<CommandLine> command_of(const std::map<std::string, std::string>& arguments);

}  // namespace landtrace::ui
