// bpf(), answered by the process's domain.
#pragma once

#include <optional>

namespace landtrace::bpf_calls {

// What the call returns, or a negative errno. nullopt: it is the kernel's to answer (no domain, another kind of map or
// program, a descriptor that is none of ours). `attributes` is the caller's memory.
std::optional<long> bpf_call(int command, const void* attributes, unsigned size);

}  // namespace landtrace::bpf_calls
