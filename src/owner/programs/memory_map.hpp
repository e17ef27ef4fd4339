// What /proc/PID/maps says of addresses.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::programs {

enum class Access { kRead, kWrite };

// Whether the process has all of the range mapped with that right. `maps` is its open /proc/PID/maps, which is bound to the
// address space as it was when it was opened.
bool permits(int maps, std::uint64_t address, std::size_t size, Access access);

}  // namespace landtrace::programs
