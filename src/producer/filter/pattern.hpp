// What the text behind ~ means.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "filter/program.hpp"

namespace landtrace::filter {

struct Pattern {
  OpCode match;  // kEqual to kGlob
  std::string text;
  bool is_negated = false;  // it began with '!'
};
Pattern parse_pattern(std::string_view text);

// A glob as the ops have it: tokens, then classes.
struct Glob {
  std::vector<GlobToken> tokens;
  std::vector<std::byte> classes;
};
Glob compile_glob(std::string_view pattern);

}  // namespace landtrace::filter
