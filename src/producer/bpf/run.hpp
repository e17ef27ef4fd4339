// Runs a program where something happens.
#pragma once

#include "bpf/execution.hpp"
#include "bpf/interpret.hpp"

namespace landtrace::bpf {

namespace detail {

// How it ended, counted in the program's figures; returns r0.
std::uint64_t count_end(const Execution& run);

// With the instructions that are left to the event, where there is such a limit. (Code is not run there.)
std::uint64_t interpret_within_limits(Execution& run);

template <std::uint32_t Frames>
[[gnu::always_inline]] inline std::uint64_t run_with(const Program& program, std::byte* data,
                                                     const std::byte* code_area, Surroundings& around,
                                                     const std::byte* first, std::uint64_t size) {
  Running<Frames> running(program, data, around, first, size);
  Execution& run = running.run;
  std::uint64_t result = 0;
  if (__builtin_expect(program.code != 0 && code_area != nullptr, 1)) {
    result = reinterpret_cast<EntryPoint>(reinterpret_cast<std::uintptr_t>(code_area + program.code))(run);
  } else {
    result = interpret_within_limits(run);
  }
  return __builtin_expect(run.end == End::kNone, 1) ? result : count_end(run);
}

std::uint64_t run_with_subprograms(const Program& program, std::byte* data, const std::byte* code_area,
                                   Surroundings& around, const std::byte* first, std::uint64_t size);

}  // namespace detail

// `first` is the first byte of the context that can be read, byte 8 of an event's entry; `size` what there is from
// there on. `code_area` is where the user's code is mapped; nullptr: programs are interpreted. Returns r0. What went
// wrong is counted in the program's figures. Takes 1 KiB of stack, and 3.5 more where the program has subprograms.
// Async-signal-safe. In line: the way to a program's code should be no longer than the program.
inline std::uint64_t run_program(const Program& program, std::byte* data, const std::byte* code_area,
                                 Surroundings& around, const std::byte* first, std::uint64_t size) {
  if (__builtin_expect(program.frames == 1, 1))
    return detail::run_with<1>(program, data, code_area, around, first, size);
  return detail::run_with_subprograms(program, data, code_area, around, first, size);
}

}  // namespace landtrace::bpf
