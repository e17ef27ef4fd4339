// Which functions `landtrace top-functions` counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace landtrace::cli {

struct TopFunction {
  std::string path;  // of its object
  std::uint64_t offset = 0;
  std::string name;  // the linker's; "" where nobody knows any
};

struct FunctionSet {
  std::vector<TopFunction> functions;
  std::vector<std::string> objects;  // their paths
  std::size_t refused = 0;           // that match, and whose calls cannot be followed
};

// EINVAL with a sentence for what is no OBJECT:GLOB, and where there are neither these nor a CMD.
Result<void> check_wanted(const std::vector<std::string>& wanted, const std::vector<std::string>& command);

// Of each `OBJECT:GLOB` the functions that match, of `GLOB` those of CMD's program; without any, all of CMD's program
// that have names, or all if hardly any has. Those that the compiler's own start-up code consists of are left out.
// ENOENT where nothing matches, E2BIG for more than `limit`, with a sentence that says what to do; or why an object has
// none that can be followed.
Result<FunctionSet> find_functions(const std::vector<std::string>& wanted, const std::vector<std::string>& command,
                                   std::size_t limit);

}  // namespace landtrace::cli
