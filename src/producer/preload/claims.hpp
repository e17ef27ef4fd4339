// The process's claims on its enable words: see ipc/claim.hpp.
#pragma once

#include "ipc/claim.hpp"

namespace landtrace::preload {

// A new claim; nullptr where there is no room, and the word has none.
ipc::Claim* claim_word(std::uint64_t address, std::uint32_t bit);
// nullptr is ignored.
void give_up(ipc::Claim* claim);
// All that there are for the word.
void give_up_word(std::uint64_t address, std::uint32_t bit);

}  // namespace landtrace::preload
