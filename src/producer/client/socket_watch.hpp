// Waits for an owner that is not there yet.
#pragma once

namespace landtrace::client {

// A connection with the owner at `path`, if there is one whom we may trust (root, or ourselves), or a negative errno.
int connect_to_owner(const char* path);

// The same, but waits until there is one: without waking now and then, where the system lets us watch the folder
// (inotify). A cancellation point while it waits.
int wait_for_owner(const char* path);

}  // namespace landtrace::client
