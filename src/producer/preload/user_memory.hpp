// Pointers that the host program passed, looked at as the kernel does: a bad one is EFAULT, not a crash.
#pragma once

#include <cstddef>
#include <sys/uio.h>

#include "base/result.hpp"

namespace landtrace::preload {

// Copies through the kernel, one system call each; for requests.
bool copy_in(void* to, const void* from, std::size_t size);
bool copy_out(void* to, const void* from, std::size_t size);

// True if the bytes can be read. Pages that were readable once are remembered per thread, so that an event costs no
// system call; what is unmapped after it was used crashes its program as it would anywhere but in a system call.
bool is_readable(const void* at, std::size_t size);
// The same for what vectors point to; they themselves were looked at.
bool point_to_readable(const iovec* vectors, int count);

}  // namespace landtrace::preload
