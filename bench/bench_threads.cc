// Two threads that record on two CPUs, against one.
#include "benchmarks.hpp"
#include "native_event.hpp"
#include "windows.hpp"

namespace landtrace::bench {
namespace {

void emit_block() {
  for (std::uint64_t i = 0; i < kBlock; ++i) Recorded::emit(i, ~i);
}

void clock_block() {
  for (std::uint64_t i = 0; i < kBlock; ++i) benchmark::DoNotOptimize(__builtin_ia32_rdtsc());
}

}  // namespace

void add_threads(Owner& owner, const Setting& setting) {
  if (our_cpus().size() < 2) return;
  const int rounds = setting.quick ? 30 : 100;
  benchmark::RegisterBenchmark(name::kTwoThreads, [&owner, rounds](benchmark::State& state) {
    const RecordedCheck check([&] { return owner.written(); });
    check.expect(state, compare_one_with_two(state, rounds, emit_block));
  })->Iterations(1);
  // What this machine itself gives to two threads that share nothing.
  benchmark::RegisterBenchmark(name::kTwoThreadsClock, [rounds](benchmark::State& state) {
    compare_one_with_two(state, rounds, clock_block);
  })->Iterations(1);
}

}  // namespace landtrace::bench
