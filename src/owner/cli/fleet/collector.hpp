// `landtrace collect`: becomes landtrace-fleet, or landtrace-collect where there is a store, with a program beside it
// that serves metrics where that is wanted.
#pragma once

#include <string>
#include <vector>

#include "cli/fleet/helper.hpp"

namespace landtrace::cli {

// What was said on the command line.
struct CollectWords {
  fleet::CollectOptions options;
  std::string keep;
  std::string memory;
  std::vector<std::string> metrics;  // where they are served: HOST:PORT or /PATH
  std::vector<std::string> by;       // labels and keys by which what was counted is told there
};

// Returns the exit status.
int run_collect(CollectWords& words);

}  // namespace landtrace::cli
