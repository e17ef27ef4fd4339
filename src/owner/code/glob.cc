#include "code/glob.hpp"

#include <fnmatch.h>

#include "symbols/short_name.hpp"

namespace landtrace::code {
namespace {

bool fits(const std::string& glob, std::string_view name) {
  return name == glob || ::fnmatch(glob.c_str(), std::string(name).c_str(), 0) == 0;
}

bool fits_as_cpp(const std::string& glob, std::string_view name) {
  if (!name.starts_with("_Z")) return false;
  const symbols::WrittenName written(name);
  return fits(glob, written.plain()) || fits(glob, written.whole()) || written.is(glob);
}

bool is_meant(const std::string& glob, std::string_view name) {
  return fits(glob, name) || fits(glob, name.substr(0, name.find('@', 1))) || fits_as_cpp(glob, name);
}

}  // namespace

bool is_glob(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

std::vector<Matched> matching(const Functions& functions, const std::string& glob) {
  std::vector<Matched> found;
  for (const Function& function : functions.all()) {
    if (function.is_part) continue;
    for (const std::string_view name : functions.names(function)) {
      if (!is_meant(glob, name)) continue;
      found.push_back({&function, name});
      break;
    }
  }
  return found;
}

}  // namespace landtrace::code
