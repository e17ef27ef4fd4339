#include "arch/thread_time.hpp"

#include "base/system_call.hpp"

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
  system_call(SYS_clock_gettime, clock, &now);
  return in_ns(now);
}

// `number` times the double with these bits, which is positive. Without floating point: a probe's data plane may not
// touch the registers of that (agent/).
std::int64_t times(std::int64_t number, std::uint64_t bits) {
  __extension__ using Wide = __int128;
  constexpr int kFraction = 52;
  constexpr int kBias = 1023;
  constexpr int kMostShift = 126;
  const auto fraction = static_cast<std::int64_t>((bits & ((1ull << kFraction) - 1)) | 1ull << kFraction);
  const int shift = kFraction + kBias - static_cast<int>(bits >> kFraction & 0x7ff);
  if (shift < 0 || shift > kMostShift) return 0;  // no slope of a clock
  return static_cast<std::int64_t>(static_cast<Wide>(number) * fraction >> shift);
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
    std::uint64_t slope;
    __atomic_load(reinterpret_cast<const std::uint64_t*>(&line->raw_per_ns), &slope, __ATOMIC_RELAXED);
    // Pairs with the release fence in refresh().
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if ((before & 1) != 0 || __atomic_load_n(&line->seq, __ATOMIC_RELAXED) != before) continue;
    if (slope == 0) return now;
    return raw + static_cast<std::uint64_t>(times(static_cast<std::int64_t>(now - ns), slope));
  }
  return now;
}

// As in times(), without floating point: a slope between 2^-30 and 2^30, to 30 bits.
std::uint64_t counter_ns(std::uint64_t raw) {
  __extension__ using Wide = unsigned __int128;
  // Pairs with the release store in set_counter_line().
  const CounterLine* const line = __atomic_load_n(&counter_line, __ATOMIC_ACQUIRE);
  if (line == nullptr) return raw;
  std::uint64_t slope;
  __atomic_load(reinterpret_cast<const std::uint64_t*>(&line->raw_per_ns), &slope, __ATOMIC_RELAXED);
  constexpr int kFraction = 52;
  constexpr int kBits = 30;
  constexpr int kBias = 1023;
  const int exponent = static_cast<int>(slope >> kFraction & 0x7ff) - kBias;
  if (exponent < -kBits || exponent > kBits) return raw;
  const std::uint64_t fraction = ((slope & ((1ull << kFraction) - 1)) | 1ull << kFraction) >> (kFraction - kBits);
  const std::uint64_t inverse = (1ull << (2 * kBits)) / fraction;  // of the fraction, times 2^kBits
  return static_cast<std::uint64_t>(static_cast<Wide>(raw) * inverse >> (kBits + exponent));
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

#elif defined(__aarch64__)

// The virtual counter. Without `isb` the CPU may read it ahead of what stands before it.
// clang-format off
asm(".pushsection .text\n\t"
    ".globl landtrace_read_counter\n\t"
    ".hidden landtrace_read_counter\n\t"
    ".type landtrace_read_counter, %function\n"
    "landtrace_read_counter:\n\t"
    ".cfi_startproc\n\t"
    "isb\n\t"
    ".globl landtrace_counter_instruction\n\t"
    ".hidden landtrace_counter_instruction\n"
    "landtrace_counter_instruction:\n\t"
    "mrs x0, cntvct_el0\n\t"
    "ret\n\t"
    ".cfi_endproc\n\t"
    ".size landtrace_read_counter, . - landtrace_read_counter\n\t"
    ".popsection");
// clang-format on

extern "C" __attribute__((visibility("hidden"))) void landtrace_counter_instruction(void);
// Where write_rseq() goes on after a fault in its sequence.
extern "C" __attribute__((visibility("hidden"))) void landtrace_write_restart(void);

namespace {

// mrs of the virtual counter, as the vDSO has it: cntvct_el0, or cntvctss_el0 where there is one.
bool is_counter_instruction(std::uint32_t word) {
  const std::uint32_t without_register = word & ~0x1fu;
  return without_register == 0xd53be040 || without_register == 0xd53be0c0;
}

}  // namespace

bool mend_counter_fault(const FaultRegisters& registers) {
  constexpr int kInstruction = 4;
  constexpr std::uint32_t kZeroRegister = 31;
  const auto pc = static_cast<std::uintptr_t>(*registers.pc);
  if (pc == reinterpret_cast<std::uintptr_t>(&landtrace_write_restart)) {
    time_source = TimeSource::kMemory;
    return true;
  }
  if (pc == reinterpret_cast<std::uintptr_t>(&landtrace_counter_instruction)) {
    time_source = TimeSource::kMemory;
    *registers.low = static_cast<std::int64_t>(counter_by_line());
    *registers.pc += kInstruction;
    return true;
  }
  if (!in_vdso || pc % kInstruction != 0) return false;
  const std::uint32_t word = *reinterpret_cast<const std::uint32_t*>(pc);
  if (!is_counter_instruction(word)) return false;
  time_source = TimeSource::kMemory;
  // Any value: system_clock_ns() does not use what comes of it.
  const std::uint32_t to = word & 0x1f;
  if (to != kZeroRegister) registers.low[to] = 0;
  *registers.pc += kInstruction;
  return true;
}

#else

extern "C" std::uint64_t landtrace_read_counter(void) { return system_clock_ns(CLOCK_MONOTONIC); }
bool mend_counter_fault(const FaultRegisters&) { return false; }

#endif

}  // namespace landtrace::arch
