// Telling a page fault from splice(): the kernel asks for pages of a file in the same way for both.
#pragma once

#include <cstdint>

namespace landtrace::fuse {

// Whether a thread that waits for a page of ours has touched a mapping (and not made a system call). False if that
// cannot be seen.
bool is_in_page_fault(std::uint32_t thread);

}  // namespace landtrace::fuse
