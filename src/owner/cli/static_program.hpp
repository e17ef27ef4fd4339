// Programs that the shim cannot be loaded into.
#pragma once

#include <string>
#include <vector>

namespace landtrace::cli {

// The program's path as execvp(3) looks for it. "": there is none.
std::string path_of_program(const std::string& program);

// Whether the program, at a path or in $PATH, is linked statically: nothing can be preloaded into it. False where that
// cannot be seen, and for scripts.
bool is_static_program(const std::string& program);

// The same of a file that may be a library instead.
bool is_static_object(const std::string& path);

// Behind "no event registered": what may help. `command` is CMD; empty: a domain was watched that others are in.
std::string why_none_registered(const std::vector<std::string>& command, bool tracefs, const std::string& socket);

}  // namespace landtrace::cli
