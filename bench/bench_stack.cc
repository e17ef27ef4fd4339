// The stack of a thread, ten calls deep, as the trigger `stacktrace` takes it, and as glibc's backtrace() does.
#include <execinfo.h>

#include "benchmarks.hpp"
#include "unwind/capture.hpp"

namespace landtrace::bench {
namespace {

constexpr int kDepth = 10;

template <typename Take>
[[gnu::noinline]] int call(int depth, benchmark::State& state, Take take) {
  if (depth > 0) {
    const int below = call(depth - 1, state, take);
    asm volatile("" ::: "memory");
    return below + 1;
  }
  for (auto _ : state) take();
  return 0;
}

void ours(benchmark::State& state) {
  std::uint64_t frames[kDepth];
  call(kDepth, state, [&frames] {
    benchmark::DoNotOptimize(unwind::capture(frames, kDepth, {}));
    benchmark::DoNotOptimize(frames);
  });
}

void glibcs(benchmark::State& state) {
  void* frames[kDepth];
  call(kDepth, state, [&frames] {
    benchmark::DoNotOptimize(::backtrace(frames, kDepth));
    benchmark::DoNotOptimize(frames);
  });
}

}  // namespace

void add_stack() {
  benchmark::RegisterBenchmark(name::kStack, ours);
  benchmark::RegisterBenchmark(name::kBacktrace, glibcs);
}

}  // namespace landtrace::bench
