// What /proc/PID/maps says of an address.
#pragma once

#include <cstdint>

namespace landtrace::domain {

// Whether the process has the page of `address` mapped writable. `maps` is its open /proc/PID/maps, which is bound to
// the address space as it was when it was opened.
bool is_writable(int maps, std::uint64_t address);

}  // namespace landtrace::domain
