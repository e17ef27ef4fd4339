// What every compiled filter must be; evaluation takes it for granted.
#pragma once

#include <cstddef>
#include <span>

namespace landtrace::filter {

// Whether every jump of a program leads forward, and all that it names lies within it.
bool is_well_formed(std::span<const std::byte> bytes);

}  // namespace landtrace::filter
