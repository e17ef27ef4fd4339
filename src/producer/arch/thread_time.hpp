// What time it is, for threads of all kinds: also for one that may not read the time stamp counter. Programs switch it
// off for a thread (prctl PR_SET_TSC), and strict seccomp does; what reads it then, the vDSO's clock_gettime() as well,
// gets a SIGSEGV.
//
// How a thread may know the time stands in a variable of the thread. Who sets it: client/tsc_guard.hpp.
#pragma once

#include <cstdint>
#include <ctime>

#include "base/shared_layout.hpp"

namespace landtrace::arch {

enum class TimeSource : std::uint8_t {
  kCounter,  // the time stamp counter, and the vDSO
  kCalls,    // the counter is off: system calls
  kMemory,   // there may be no system calls, either: the time of the next tick, by what the vDSO has in memory
};

extern constinit thread_local TimeSource time_source __attribute__((tls_model("initial-exec")));

// False in a thread that any system call but read, write and exit would kill, or which may be such a one.
inline bool may_call() { return __builtin_expect(time_source != TimeSource::kMemory, 1); }

// CLOCK_… in ns. Async-signal-safe.
std::uint64_t system_clock_ns(clockid_t clock);

extern "C" std::uint64_t landtrace_read_counter(void);
std::uint64_t counter_by_line();

// The time stamp counter, on aarch64 the virtual counter; in a thread that may not read it the counter's value at
// CLOCK_MONOTONIC's time, by the line that set_counter_line() was given. CLOCK_MONOTONIC on other CPUs.
// Async-signal-safe.
inline std::uint64_t read_counter() {
  return __builtin_expect(time_source == TimeSource::kCounter, 1) ? landtrace_read_counter() : counter_by_line();
}

// CLOCK_MONOTONIC as it was at the last tick, some milliseconds ago. Never reads the counter. Async-signal-safe.
std::uint64_t tick_ns();

// Which value of the counter belongs to which time, in shared memory: the owner draws the line and prolongs it.
//
//   0     4        8     16    24            32
//   +-----+--------+-----+-----+-------------+
//   | seq | unused | raw | ns  | raw_per_ns  |
//   +-----+--------+-----+-----+-------------+
//
// A sequence lock: odd while it is written.
struct CounterLine {
  std::uint32_t seq;
  std::uint32_t reserved;
  std::uint64_t raw;
  std::uint64_t ns;
  // 0: there is no line yet.
  double raw_per_ns;
};
LT_SHARED(CounterLine, 32, 8);
LT_SHARED_AT(CounterLine, seq, 0);
LT_SHARED_AT(CounterLine, raw, 8);
LT_SHARED_AT(CounterLine, ns, 16);
LT_SHARED_AT(CounterLine, raw_per_ns, 24);

// The owner's: draws `line` anew from here on. Reads both clocks; a microsecond.
class CounterLinePainter {
 public:
  // Does nothing more than look at the time where the line is fresh.
  void refresh(CounterLine& line);

 private:
  std::uint64_t first_raw_ = 0;
  std::uint64_t first_ns_ = 0;
  std::uint64_t last_ns_ = 0;
};

// The line that the process's threads go by; it stays mapped. Null: none.
void set_counter_line(const CounterLine* line);

// How many ns that many of the counter are, by the line. Async-signal-safe.
std::uint64_t counter_ns(std::uint64_t raw);

// What the handler of SIGSEGV knows: registers at the fault, as in ucontext_t. True where a read of the counter in
// this library, or in a clock_gettime() that it called, was the cause. The thread may not read the counter
// any more, and goes on with registers for which the fault has not happened.
struct FaultRegisters {
  std::int64_t* pc;
  std::int64_t* low;   // of the counter's value; on aarch64 x0, and the other general registers behind it
  std::int64_t* high;  // not on aarch64
};
bool mend_counter_fault(const FaultRegisters& registers);

}  // namespace landtrace::arch
