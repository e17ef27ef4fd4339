// Writes code that other threads run, or see soon.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::agent {

// Stores up to 8 bytes by one instruction. Where they lie in 8 aligned bytes, others that run there see either those
// or what was there; elsewhere no thread may be there.
void store(std::uint64_t address, const std::uint8_t* bytes, std::size_t size);
// All threads see from here on what was stored.
void synchronize_code();

}  // namespace landtrace::agent
