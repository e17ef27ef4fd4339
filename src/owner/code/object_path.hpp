// Which file a library's or program's name means.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace landtrace::code {

// A word with a slash is a path, and so is one that names a file in this folder. Else it is a library in
// $LD_LIBRARY_PATH or the standard folders ("libc.so.6", or "libc" where one version is there), else a program in
// $PATH. ENOENT with a sentence.
Result<std::string> object_path(const std::string& name);

// Names of libraries and programs there, to say what a mistyped one may have meant.
std::vector<std::string> object_names();

}  // namespace landtrace::code
