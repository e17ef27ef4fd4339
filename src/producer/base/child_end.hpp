// How children of this process end, where threads of it may trace them for a moment, as those of a domain's owner do
// that bring the agent into programs. What the system tells of stops meanwhile, whether asked for or not, is for these
// threads and is left to them: waitpid() would take it away, and make an end of it.
#pragma once

#include <sys/types.h>

#include <optional>

namespace landtrace {

// The child's status as of waitpid(), once it has ended; nullopt: it goes on, or is no child (any more).
std::optional<int> status_at_end(pid_t child);
// Waits for that. nullopt: it is no child (any more).
std::optional<int> wait_for_end(pid_t child);

}  // namespace landtrace
