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

// Registers an event, says "ready", emits it for each of kManyKeys keys when it is told to, and prints how many bytes
// it has in memory.
int count_keys(const char* socket);

// Registers bench_read and bench_unread, says "ready", and for each line of input emits the event of that name as
// soon as it is on: prints the CPU time of one in ns, the seconds that all took, and how many there were; an empty line
// if it stays off.
int emit_for_readers(const char* socket);
// Emits so many events in spans that overlap, from two threads, as fast as whoever records them keeps up with.
int emit_spans(const char* count);

// A fresh process: prints the ns that connecting to the domain and mapping it took.
int attach_once(const char* socket);

// A native program that registers `count` events, says so, and stays until its standard input ends.
int register_many(const char* socket, const char* count);

// Registers bench_fleet_0 and so on, says "ready", and for each line "EVENT TIMES" emits that one so often, its keys in
// turn: prints the ns that each took, and whether it was on at the end.
int emit_for_fleet(const char* socket, const char* count, const char* keys);

// An unmodified program with one event: says "ready", then answers each line with its enable word.
int wait_for_enable_word();

// Programs on a mounted tree at `folder`. `writers` threads with a file each write events of 16 bytes for so long:
// prints the median ns of a write, how many were written per second and in all, and the median ns of a round trip
// that does nothing.
int write_through_mount(const char* folder, const char* writers, const char* for_ms);
// Emits `count` native events.
int fill(const char* socket, const char* count);
// Fills rings of 8 MB with native events, says "ready", and for each line of input does so again and emits the event
// that a trigger is for: prints the ns that this one took.
int take_snapshots(const char* socket);
// Reads `trace` to its end: prints the ns that it took, and the lines.
int read_trace(const char* folder);
// Registers `count` events: prints the ns for reading available_events, for listing events/user_events, and for
// enabling all of them by set_event.
int list_through_mount(const char* folder, const char* count);
// Registers an event, says "ready", and stays until its standard input ends.
int hold_on_mount(const char* folder);

// Probes 1,000 functions of its own that 8 threads call, while others wait in calls: prints the ns that it took, for
// how many ns threads were stopped at a time at most, how many calls were interrupted, and the load of the machine.
int patch_thousand();

}  // namespace landtrace::bench
