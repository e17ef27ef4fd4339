// user_events_data files: opening one, and telling that a descriptor is one.
#pragma once

#include "preload/fd_table.hpp"

namespace landtrace::preload {

// True for a path whose last part is user_events_data. `path` must be readable.
bool names_data_file(const char* path);

// Opens a file of the domain; the descriptor, or -1 with errno, the owner's answer. Where there is no domain, returns
// kNoDomain and the caller goes on as if the shim were not there. Where there is one that cannot be reached, kUnreached
// with errno: a kernel's own file may serve instead, but that there is no such file is not true.
inline constexpr int kNoDomain = -2;
inline constexpr int kUnreached = -3;
int open_data_file(int flags);

// kNoDomain or kUnreached, for an errno of Process::attach_or_why() or of a request.
int not_opened(int error);

// Looks at a descriptor that came from elsewhere (over a socket, through exec) and notes it if it is one of ours.
// False if it is not.
bool recognise(int fd);

// The entry, looking at the descriptor itself if it is not in the table.
FdEntry find_file(int fd);

}  // namespace landtrace::preload
