// Runs a program where something happens.
#pragma once

#include "bpf/execution.hpp"

namespace landtrace::bpf {

// `first` is the first byte of the context that can be read, byte 8 of an event's entry; `size` what there is from
// there on. `code_area` is where the user's code is mapped; nullptr: programs are interpreted. Returns r0. What went
// wrong is counted in the program's figures. Takes 2.5 KiB of stack, and 3.5 more where the program has subprograms.
// Async-signal-safe.
std::uint64_t run_program(const Program& program, std::byte* data, const std::byte* code_area, Surroundings& around,
                          const std::byte* first, std::uint64_t size);

}  // namespace landtrace::bpf
