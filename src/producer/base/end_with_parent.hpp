// Programs of ours that another one starts and that are to end with it, also where it is killed.
#pragma once

#include <string>
#include <vector>

namespace landtrace {

// For such a program, before it has threads: from here on it gets SIGTERM when the thread that has started it ends, and
// at once if that process has ended already, which the system tells nobody of. The latter is known by
// parent_variable(); without it (somebody else has started this program) nothing is looked for.
void end_with_parent();

// "LANDTRACE_PARENT=PID", with which this process starts such a program, in front of other variables of that name.
std::string parent_variable();

// This process's environment behind `variables` ("NAME=value"), which it refers to, and a nullptr: for exec().
std::vector<char*> environment_with(std::vector<std::string>& variables);

}  // namespace landtrace
