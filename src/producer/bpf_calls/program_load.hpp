// BPF_PROG_LOAD: the instructions go to the owner, with the numbers of maps in place of descriptors, and the verifier's
// log comes back.
#pragma once

#include <linux/bpf.h>

#include "bpf_calls/objects.hpp"

namespace landtrace::bpf_calls {

// A descriptor, or a negative errno.
long load_program(const bpf_attr& call);
// Of a forked child: nobody is loading there.
void loads_after_fork();

}  // namespace landtrace::bpf_calls
