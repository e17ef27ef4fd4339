// A program may switch the time stamp counter off for a thread, before it attaches or later (arch/thread_time.hpp). The
// thread then records by the portable write, and knows the time by other means.
//
//   before the thread's first event    counter_is_off() asks the kernel, once a thread
//   later, by a call of libc           the shim sees it (preload/interpose_sandbox.cc)
//   later, otherwise                   the next event's fault: the guard below. Programs that link the library have
//                                      nothing else; it costs an event nothing
#pragma once

namespace landtrace::client {

// Whether the calling thread may not read the counter. A system call; async-signal-safe.
bool counter_is_off();

// Handles SIGSEGV, and then SIGBUS, where the program leaves them to the system: a fault at a read of the counter that
// is ours is mended, and one at a load of a probe's (plan/program_memory.hpp); any other ends the program as if there
// were no handler.
// Where the program has a handler it keeps it, and must not switch the counter off behind the library's back. Once in a
// process; not with $LANDTRACE_SIGNAL_HANDLERS=0. <landtrace/landtrace.h> tells programs.
void install_tsc_guard();

}  // namespace landtrace::client
