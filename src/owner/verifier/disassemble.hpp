// Instructions as text, in the notation that eBPF's tools have: "r1 = *(u32 *)(r1 +8)".
#pragma once

#include <string>

#include "verifier/bpf_names.hpp"

namespace landtrace::verifier {

// Of the first of two, where it has two.
std::string disassemble(const Instruction* at);
// "map_lookup_elem"; "" where no helper of that number is known.
std::string helper_name(std::uint32_t number);

}  // namespace landtrace::verifier
