// x86-64 code of a verified program. It gives the answers that the interpreter gives, and trusts the verifier no more
// than that does: each access is checked where it happens, instructions are counted where the program can go back, and
// what the code itself assumes it has found out itself. It lies anywhere, has no address of anything in it, and calls
// helpers by the machine's table.
//
//     r0  rax      r1  rsi      r6  r12        rbx       the machine
//                  r2  rdx      r7  r13        rbp       of who called, so that stacks can be walked
//                  r3  rcx      r8  r14        r10, r11, rdi   for each instruction's own use
//                  r4  r8       r9  r15
//                  r5  r9       r10  is in the machine: the program cannot change it
//
//   As helpers are called with the machine and r1 to r5, these lie where a call wants them.
//
// An access through a pointer whose window can be guessed (hints.hpp) compares the pointer with that window in line. It
// goes on where the guess was right; else, and where there is no guess, the way is by a helper that finds the window.
//
// Values of arrays, and of hashes whose keys have 4 or 8 bytes, are looked up in line. What is not plain there is left
// to the helper (compiler_maps.cc).
//
// The one difference from the interpreter: a run that has used up its instructions ends in front of the straight piece
// in which the last one lies, not in the middle of it.
#pragma once

#include <span>
#include <vector>

#include "bpf/context.hpp"
#include "bpf/instruction.hpp"
#include "bpf/map_layout.hpp"

namespace landtrace::bpf_code {

// Whether this machine can run it.
bool can_compile();

// What of a bpf::Program the code depends on.
struct Source {
  // References to maps are numbers of windows and handles already (bpf/program.hpp).
  std::span<const bpf::Instruction> code;
  std::span<const bpf::MapLayout> maps;
  std::uint32_t frames;
  bpf::Context context;
};

// Empty where the program is to be interpreted: it takes stacks, which are not walked through such code, or has what
// the verifier does not let through.
std::vector<std::byte> compile(const Source& source);

}  // namespace landtrace::bpf_code
