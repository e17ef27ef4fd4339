// Counters in programs that say how many places are listened to: USDT semaphores, of 16 bits. A program that finds 0 in
// one does not work out what nobody wants to know. Others may count there, too: kernels, debuggers.
//
// Whoever calls these keeps objects from being unmapped.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/maps.hpp"

namespace landtrace::agent {

// One more. False where nothing is mapped that can be written to, or there is no higher number: nothing has changed.
bool raise_counter(const std::vector<Mapped>& maps, std::uint64_t address);

// One less; 0 stays 0, as in an object that was unmapped and is there again. `address` 0: nothing to do.
void lower_counter(std::uint64_t address);

}  // namespace landtrace::agent
