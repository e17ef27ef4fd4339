// The parts of the benchmark that run in processes of their own; `landtrace_bench --role NAME ARGUMENTS`.
#pragma once

#include "setting.hpp"

namespace landtrace::bench {

// Everything that is timed, in one process under the shim.
int measure(const Setting& setting);

// Serves a domain at `socket`. Commands on standard input, one answer line each (owner.hpp).
int own_domain(const char* socket);

// A native program with the portable writer: prints the ns per event of `rounds` rounds, and how many events
// it emitted.
int emit_portably(const char* socket, const char* rounds);

// A fresh process: prints the ns that connecting to the domain and mapping it took.
int attach_once(const char* socket);

// A native program that registers `count` events, says so, and stays until its standard input ends.
int register_many(const char* socket, const char* count);

// An unmodified program with one event: says "ready", then answers each line with its enable word.
int wait_for_enable_word();

}  // namespace landtrace::bench
