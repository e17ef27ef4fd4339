// Programs that are run by the tool itself, in the thread that asks: BPF_PROG_TEST_RUN, and timers.
#pragma once

#include <linux/bpf.h>

#include "bpf_calls/objects.hpp"

namespace landtrace::bpf_calls {

// With `size` bytes as its context, from context_begin() on. 0 and r0 in `result`, or a negative errno: ENODEV where
// the domain that it was loaded into is gone, or the connection that it is held for; EAGAIN where the thread has no
// place in it.
long run_here(const Object& program, const void* context, std::uint64_t size, std::uint64_t& result);

// BPF_PROG_TEST_RUN, of programs of type RAW_TRACEPOINT as in the kernel: EINVAL where the context has fewer bytes than
// the program looks at, and so on.
long test_run(const Object& program, const bpf_attr& call, void* attributes);

}  // namespace landtrace::bpf_calls
