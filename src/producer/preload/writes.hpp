// write() and its relatives on user_events_data files.
#pragma once

#include <sys/uio.h>

#include "preload/fd_table.hpp"

namespace landtrace::preload {

// As the system call: the bytes written, or -1 with errno. `entry` is the descriptor's. Async-signal-safe.
ssize_t write_data_file(int fd, FdEntry entry, const void* buffer, std::size_t size);
ssize_t writev_data_file(int fd, FdEntry entry, const iovec* vectors, int count);

}  // namespace landtrace::preload
