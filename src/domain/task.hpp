// What /proc says of threads and processes.
#pragma once

#include <cstdint>

namespace landtrace::domain {

// The process that the thread belongs to; `tid` itself where that cannot be told.
std::uint32_t process_of(std::uint32_t tid);

}  // namespace landtrace::domain
