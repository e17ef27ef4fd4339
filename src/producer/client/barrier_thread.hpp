// A thread that lives for the some 10 ms in which a program with threads registers for the owner's barriers.
#pragma once

namespace landtrace::client {

// It calls Process::register_for_barriers(). False where there can be no thread. Once in a process.
bool start_barrier_thread();

}  // namespace landtrace::client
