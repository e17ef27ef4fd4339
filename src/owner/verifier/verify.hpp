// The verifier: whether a program may run in other people's programs. It goes every way that the program can go, with
// what is known of each register and of the stack, and leaves a way where it comes by with nothing new.
//
// What a program is kept from: reading what it has not written; touching memory beyond the event's fields, its stack, a
// map's value or a record; pointers where numbers are wanted, and the other way round; a lookup's answer that was not
// compared with 0; a record that is not given back; loops that need more than kMaxProcessed instructions.
#pragma once

#include <span>
#include <string>

#include "bpf/context.hpp"
#include "verifier/bpf_names.hpp"

namespace landtrace::verifier {

// Instructions that are looked at, over all ways: what the owner's time allows.
inline constexpr std::uint32_t kMaxProcessed = 200'000;
// What is known at one instruction is compared with what was known there before: so many registers and slots of stacks.
inline constexpr std::uint64_t kMaxCompared = 200'000'000;
// Of memory, for states that are kept to be compared with, and as much again for ways that are still to be gone.
inline constexpr std::size_t kMaxStateBytes = 8 << 20;

struct Verdict {
  bool accepted = false;
  // EINVAL, EACCES or E2BIG, and why.
  int error = 0;
  std::string reason;
  // As much of what was looked at as `log_level` asks for, 0: nothing; 1: instructions; 2: and registers.
  std::string log;
  std::uint32_t processed = 0;
  // The most memory that states took.
  std::size_t state_bytes = 0;
  // Bytes of the context that must be there.
  std::uint32_t context_end = 0;
  // Of stack.
  std::uint32_t frames = 1;
};

// References to maps are numbers of `maps` in the instructions' immediates.
Verdict verify(std::span<const Instruction> code, std::span<const MapLayout> maps, bpf::Context context,
               unsigned log_level);

}  // namespace landtrace::verifier
