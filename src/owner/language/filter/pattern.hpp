// What the text behind ~ means.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "filter/program.hpp"

namespace landtrace::language {

struct TextPattern {
  filter::OpCode match;  // kEqual to kGlob
  std::string text;
  bool is_negated = false;  // it began with '!'
};
TextPattern parse_text_pattern(std::string_view text);

// A glob as the ops have it: tokens, then classes.
struct Glob {
  std::vector<filter::GlobToken> tokens;
  std::vector<std::byte> classes;
};
Glob compile_glob(std::string_view pattern);

}  // namespace landtrace::language
