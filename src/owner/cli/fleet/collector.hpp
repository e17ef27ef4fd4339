// `landtrace collect`: becomes landtrace-fleet, with a program beside it that serves metrics where that is wanted.
#pragma once

#include <string>
#include <vector>

#include "cli/fleet/helper.hpp"

namespace landtrace::cli {

struct CollectOptions {
  fleet::Address address;
  std::vector<std::string> metrics;  // where they are served: HOST:PORT or /PATH
  std::vector<std::string> by;       // labels and keys by which what was counted is told there
};

// Returns the exit status.
int run_collect(CollectOptions& options);

}  // namespace landtrace::cli
