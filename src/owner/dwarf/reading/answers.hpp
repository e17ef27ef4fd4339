// The answers of landtrace-dwarf.
#pragma once

#include <string>
#include <vector>

#include "base/fd.hpp"

namespace landtrace::dwarf {

// `words`: the question and its words. The text is complete whatever happens.
std::string answer(Fd object, const std::string& path, const std::string& debug_folder,
                   const std::vector<std::string>& words);

}  // namespace landtrace::dwarf
