// Programs that this one becomes, or starts, and that nothing can be loaded into: whoever records probes says so.
#pragma once

#include <string>

namespace landtrace::preload {

// When the program starts: where its domain is.
void set_noting(const std::string& socket);

// Before exec(). Where somebody wants to know (ipc/unprobed_mark.hpp) a line tells of a program that is linked
// statically, or has rights of its own. Nothing of other programs, nor of what is not there. Async-signal-safe, also in
// a child of vfork(); errno stays as it was.
void note_program(const char* path);
// The same of a name as execvp(3) looks for it.
void note_program_in_path(const char* name);

}  // namespace landtrace::preload
