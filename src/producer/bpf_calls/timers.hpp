// Programs that run now and then: a perf event of type CPU_CLOCK on one CPU, as bpftrace has its interval probes. They
// say nothing of a CPU, so it is no matter where they run: the tool runs them itself while it waits for what its
// programs have to say.
#pragma once

#include "bpf_calls/objects.hpp"

namespace landtrace::bpf_calls {

// From now on, each `period_ns`. `event` tells it from others; it is not looked at.
void add_timer(const void* event, ObjectRef program, std::uint64_t period_ns);
// Nothing where there is none.
void remove_timer(const void* event);
void set_timer(const void* event, bool is_on);
// Of a forked child: they go on in its parent.
void timers_after_fork();
// Runs those whose time has come: once, however late it is.
void run_due_timers();
// How long until the next one is due; UINT64_MAX: there is none.
std::uint64_t next_timer_ns();

}  // namespace landtrace::bpf_calls
