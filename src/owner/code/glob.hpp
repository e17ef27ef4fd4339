// Functions by a pattern of their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "code/functions.hpp"

namespace landtrace::code {

// Has '*', '?' or '[', so it may mean more than one name.
bool is_glob(std::string_view text);

struct Matched {
  const Function* function;
  std::string_view name;  // the first of its names that fits
};
// The functions of which a name fits the pattern, as a shell's: linkers' names, with or without a version, and those of
// C++, with or without parameters. In the order of addresses, without parts of functions.
std::vector<Matched> matching(const Functions& functions, const std::string& glob);

}  // namespace landtrace::code
