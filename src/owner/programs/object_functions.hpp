// Where the functions of an object are that somebody names, for ObjectFiles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "code/analysis.hpp"

namespace landtrace::programs {

// Where in a file a function is.
struct FunctionSpot {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  // Of an ifunc, which is no function but chooses one when a program starts: where all are that it may choose.
  std::vector<std::uint64_t> choices;
};

// The function of that name: the linker's, with @VERSION too, or a C++ function's, with parameters or without. ENOENT:
// there is none; EINVAL with a sentence: not in that version, or there are several; EOPNOTSUPP with a sentence: what it
// chooses is not known.
Result<FunctionSpot> find_function(const code::Object& object, std::string_view name);

// What a pattern means in an object.
struct FunctionSpots {
  struct One {
    std::string name;
    FunctionSpot spot;
  };
  std::vector<One> functions;
  struct Refused {
    std::string name;
    std::string_view reason;
  };
  std::vector<Refused> refused;  // fit it, and cannot be probed
};
// kUnmistakably: of several functions of one name, as static ones of several source files are, only that which the name
// means.
enum class Named : std::uint8_t { kAny, kUnmistakably };
// By name; those whose entries can be probed, or whose returns.
FunctionSpots find_functions(code::Analysis& analysis, const std::string& pattern, bool are_returns, Named named);

}  // namespace landtrace::programs
