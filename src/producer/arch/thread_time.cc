#include "arch/thread_time.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace landtrace::arch {

constinit thread_local TimeSource time_source = TimeSource::kCounter;

namespace {

constinit const CounterLine* counter_line = nullptr;
// Between two ticks, at most.
constinit std::uint64_t tick_length_ns = 0;
// The thread is inside the vDSO's clock_gettime() on our behalf: a fault there is ours.
constinit thread_local volatile bool in_vdso __attribute__((tls_model("initial-exec"))) = false;

std::uint64_t in_ns(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

// The clock that a tick leaves in memory, and that runs as `clock` does or nearly so.
clockid_t coarse(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_TAI ? CLOCK_REALTIME_COARSE : CLOCK_MONOTONIC_COARSE;
}

std::uint64_t without_counter(clockid_t clock) {
  timespec now{};
  if (time_source == TimeSource::kMemory) {
    ::clock_gettime(coarse(clock), &now);
    // Rather late than early: the thread's events stay behind those from before it lost the counter, unless the tick
    // itself was late.
    return in_ns(now) + tick_length_ns;
  }
  const int saved_errno = errno;
  ::syscall(SYS_clock_gettime, clock, &now);
  errno = saved_errno;
  return in_ns(now);
}

}  // namespace

std::uint64_t system_clock_ns(clockid_t clock) {
  if (__builtin_expect(time_source != TimeSource::kCounter, 0)) return without_counter(clock);
  timespec now{};
  in_vdso = true;
  ::clock_gettime(clock, &now);
  in_vdso = false;
  // It may have found out just now that the counter is off.
  return __builtin_expect(time_source != TimeSource::kCounter, 0) ? without_counter(clock) : in_ns(now);
}

std::uint64_t tick_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return in_ns(now);
}

void set_counter_line(const CounterLine* line) {
  timespec tick{};
  ::clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  tick_length_ns = in_ns(tick);
  // Pairs with the acquire load in counter_by_line().
  __atomic_store_n(&counter_line, line, __ATOMIC_RELEASE);
}

std::uint64_t counter_by_line() {
  const std::uint64_t now = without_counter(CLOCK_MONOTONIC);
  // Pairs with the release store in set_counter_line().
  const CounterLine* const line = __atomic_load_n(&counter_line, __ATOMIC_ACQUIRE);
  if (line == nullptr) return now;
  // Not for ever: an owner may have died while it drew the line.
  for (int tries = 0; tries < 1000; ++tries) {
    // Pairs with the release store that ends refresh().
    const std::uint32_t before = __atomic_load_n(&line->seq, __ATOMIC_ACQUIRE);
    const std::uint64_t raw = __atomic_load_n(&line->raw, __ATOMIC_RELAXED);
    const std::uint64_t ns = __atomic_load_n(&line->ns, __ATOMIC_RELAXED);
    double slope;
    __atomic_load(&line->raw_per_ns, &slope, __ATOMIC_RELAXED);
    // Pairs with the release fence in refresh().
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if ((before & 1) != 0 || __atomic_load_n(&line->seq, __ATOMIC_RELAXED) != before) continue;
    if (slope == 0) return now;
    const auto since = static_cast<double>(static_cast<std::int64_t>(now - ns));
    return raw + static_cast<std::uint64_t>(static_cast<std::int64_t>(since * slope));
  }
  return now;
}

void CounterLinePainter::refresh(CounterLine& line) {
  constexpr std::uint64_t kFresh_ns = 10'000'000;
  constexpr std::uint64_t kFirstStretch_ns = 50'000;
  const std::uint64_t start_ns = system_clock_ns(CLOCK_MONOTONIC);
  if (last_ns_ != 0 && start_ns - last_ns_ < kFresh_ns) return;
  // The tightest of a few tries: the time between two readings of the counter.
  const auto read_pair = [](std::uint64_t& raw, std::uint64_t& ns) {
    std::uint64_t best_width = ~0ull;
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t before = read_counter();
      const std::uint64_t time = system_clock_ns(CLOCK_MONOTONIC);
      const std::uint64_t width = read_counter() - before;
      if (width >= best_width) continue;
      best_width = width;
      raw = before + width / 2;
      ns = time;
    }
  };
  std::uint64_t raw = 0;
  std::uint64_t ns = 0;
  if (first_ns_ == 0) {
    read_pair(first_raw_, first_ns_);
    // A first slope, good for some hundred ns in the next millisecond; the next line has a better one.
    while (system_clock_ns(CLOCK_MONOTONIC) - first_ns_ < kFirstStretch_ns) continue;
  }
  read_pair(raw, ns);
  last_ns_ = ns;
  double slope = static_cast<double>(raw - first_raw_) / static_cast<double>(ns - first_ns_);
  const std::uint32_t seq = line.seq;
  __atomic_store_n(&line.seq, seq + 1, __ATOMIC_RELAXED);
  // The odd number, then the line: pairs with the acquire fence in counter_by_line().
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&line.raw, raw, __ATOMIC_RELAXED);
  __atomic_store_n(&line.ns, ns, __ATOMIC_RELAXED);
  __atomic_store(&line.raw_per_ns, &slope, __ATOMIC_RELAXED);
  // The line, then the even number: pairs with the acquire load in counter_by_line().
  __atomic_store_n(&line.seq, seq + 2, __ATOMIC_RELEASE);
}

#if defined(__x86_64__)

// The one instruction that reads the counter outside restartable sequences, so that a fault at it is known as ours.
// clang-format off
asm(".pushsection .text\n\t"
    ".globl landtrace_read_counter\n\t"
    ".hidden landtrace_read_counter\n\t"
    ".type landtrace_read_counter, @function\n"
    "landtrace_read_counter:\n\t"
    ".cfi_startproc\n\t"
    "rdtsc\n\t"
    "shlq $32, %rdx\n\t"
    "orq %rdx, %rax\n\t"
    "ret\n\t"
    ".cfi_endproc\n\t"
    ".size landtrace_read_counter, . - landtrace_read_counter\n\t"
    ".popsection");
// clang-format on

// Where write_rseq() goes on after a fault in its sequence.
extern "C" __attribute__((visibility("hidden"))) void landtrace_write_restart(void);

namespace {

// rdtsc or rdtscp, as the vDSO has them: their length, else 0.
int counter_instruction(const unsigned char* at) {
  if (at[0] != 0x0f) return 0;
  if (at[1] == 0x31) return 2;
  return at[1] == 0x01 && at[2] == 0xf9 ? 3 : 0;
}

}  // namespace

bool mend_counter_fault(const FaultRegisters& registers) {
  const auto pc = static_cast<std::uintptr_t>(*registers.pc);
  if (pc == reinterpret_cast<std::uintptr_t>(&landtrace_write_restart)) {
    time_source = TimeSource::kMemory;
    return true;
  }
  if (pc == reinterpret_cast<std::uintptr_t>(&landtrace_read_counter)) {
    time_source = TimeSource::kMemory;
    const std::uint64_t value = counter_by_line();
    *registers.low = static_cast<std::uint32_t>(value);
    *registers.high = static_cast<std::int64_t>(value >> 32);
    *registers.pc += 2;
    return true;
  }
  const int length = in_vdso ? counter_instruction(reinterpret_cast<const unsigned char*>(pc)) : 0;
  if (length == 0) return false;
  time_source = TimeSource::kMemory;
  // Any value: system_clock_ns() does not use what comes of it. One that is negative would be a system call.
  *registers.low = *registers.high = 0;
  *registers.pc += length;
  return true;
}

#else

extern "C" std::uint64_t landtrace_read_counter(void) { return system_clock_ns(CLOCK_MONOTONIC); }
bool mend_counter_fault(const FaultRegisters&) { return false; }

#endif

}  // namespace landtrace::arch
