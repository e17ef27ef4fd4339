// write() and writev() on a user_events_data file: the first four bytes are a write index of that file, the rest
// is the event's payload. In a plain file (see kPlainFile) all of it is payload.
#pragma once

#include <sys/uio.h>

#include "plan/emit.hpp"

namespace landtrace::plan {

// A user_events_data file, as the owner named it.
struct FileRef {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
};

// Returns the bytes written (index, if there is one, and payload) or a negative errno, in the kernel's order of
// precedence:
//   -EFAULT  fewer than four bytes where there is an index, or a dynamic location that leaves the payload or lacks its
//            NUL
//   -EINVAL  a negative index, or a payload shorter than the event's fields
//   -ENOENT  an index that this file does not have
//   -EBADF   nobody listens to the event
//   -E2BIG   a payload over 64 KiB (the kernel drops it and reports success)
// `vectors` must be readable. Async-signal-safe.
ssize_t write_file(const View& view, const Thread& thread, FileRef file, const iovec* vectors, int count);

}  // namespace landtrace::plan
