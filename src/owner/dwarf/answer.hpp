// What is asked of debugging information (DWARF), and what it says.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace landtrace::dwarf {

struct NamedValue {
  std::string name;   // "status"
  std::string fetch;  // "+8(%si):s32"
};
// The error is a sentence.
using NamedValues = tl::expected<std::vector<NamedValue>, std::string>;

struct Parameter {
  std::string name;     // "": it has none
  std::string type;     // "const char *"
  std::string why_not;  // why it cannot be fetched when the function begins; "": it can
};
struct DescribedFunction {
  std::uint64_t offset = 0;  // in the file
  std::string file;
  std::uint64_t line = 0;  // 0: unknown
  std::string returns;     // a type
  std::vector<Parameter> parameters;
};

// Of a source line. As many as there are copies of it, by inlining or as a template.
struct LinePlaces {
  std::vector<std::uint64_t> offsets;  // in the file, ascending
};

}  // namespace landtrace::dwarf
