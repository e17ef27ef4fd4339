// eBPF programs in the program that the events happen in, compiled and interpreted: one that looks at two numbers,
// beside the filter that does; one that counts by a key in a hash, beside the histogram that does.
#include <landtrace/landtrace.hpp>

#include <sched.h>

#include "benchmarks.hpp"
#include "windows.hpp"

namespace landtrace::bench {
namespace {

constexpr std::uint32_t kKeys = 64;

template <landtrace::detail::Literal Name>
using Request = Event<Name, Field<"d", std::uint64_t>, Field<"status", std::uint32_t>, Field<"unused", std::uint32_t>>;
template <landtrace::detail::Literal Name>
using Counted = Event<Name, Field<"id", std::uint32_t>, Field<"value", std::uint64_t>>;

using Filtered = Request<"bench_bpf_filtered">;
using Compiled = Request<"bench_bpf_compiled">;
using Interpreted = Request<"bench_bpf_interpreted">;
using Count = Counted<"bench_bpf_count">;
using CountInterpreted = Counted<"bench_bpf_count_interpreted">;
using CountHist = Counted<"bench_bpf_count_hist">;

// The first number passes, the second does not: both are looked at.
template <typename E>
void add_request(Owner& owner, const char* name) {
  benchmark::RegisterBenchmark(name, [&owner](benchmark::State& state) {
    if (!E::enabled()) return state.SkipWithError("the event has no plan");
    const RecordedCheck check([&] { return owner.written(); });
    std::uint64_t i = 0;
    for (auto _ : state) {
      E::emit(i & 1023, 500, 0);
      ++i;
      benchmark::ClobberMemory();
    }
    check.expect(state, 0);
  });
}

template <typename E, typename Counter>
void add_count(const char* name, Counter counter) {
  benchmark::RegisterBenchmark(name, [counter](benchmark::State& state) {
    const RecordedCheck check(counter);
    std::uint32_t i = 0;
    for (auto _ : state) {
      E::emit(i % kKeys, i);
      ++i;
      benchmark::ClobberMemory();
    }
    check.expect(state, i);
  });
}

}  // namespace

void add_bpf(Owner& owner, const Setting& setting) {
  static_cast<void>(Filtered::registration());
  owner.write("events/user_events/bench_bpf_filtered/filter", "status >= 500 && d > 1000000");
  owner.write("events/user_events/bench_bpf_filtered/enable", "1");
  static_cast<void>(Compiled::registration());
  owner.bpf("filter bench_bpf_compiled compiled");
  static_cast<void>(Interpreted::registration());
  owner.bpf("filter bench_bpf_interpreted interpreted");
  static_cast<void>(Count::registration());
  owner.bpf("count bench_bpf_count compiled");
  static_cast<void>(CountInterpreted::registration());
  owner.bpf("count bench_bpf_count_interpreted interpreted");
  static_cast<void>(CountHist::registration());
  owner.write("events/user_events/bench_bpf_count_hist/trigger", "hist:keys=id");
  add_request<Filtered>(owner, name::kBpfOwnFilter);
  add_request<Compiled>(owner, name::kBpfCompiled);
  add_request<Interpreted>(owner, name::kBpfInterpreted);
  add_count<Count>(name::kBpfCount, [&owner] { return owner.bpf("counted bench_bpf_count"); });
  add_count<CountInterpreted>(name::kBpfCountInterpreted,
                              [&owner] { return owner.bpf("counted bench_bpf_count_interpreted"); });
  benchmark::RegisterBenchmark(name::kBpfCountHist, [](benchmark::State& state) {
    std::uint32_t i = 0;
    for (auto _ : state) {
      CountHist::emit(i % kKeys, i);
      ++i;
      benchmark::ClobberMemory();
    }
  });
  if (our_cpus().size() < 2) return;
  const int rounds = setting.quick ? 30 : 100;
  benchmark::RegisterBenchmark(name::kBpfThreads, [&owner, rounds](benchmark::State& state) {
    const RecordedCheck check([&] { return owner.bpf("counted bench_bpf_count"); });
    check.expect(state, compare_one_with_two(state, rounds, [] {
                   // Threads that stay on a CPU each have a key of their own.
                   const std::uint32_t key = 1000 + static_cast<std::uint32_t>(::sched_getcpu());
                   for (std::uint64_t i = 0; i < kBlock; ++i) Count::emit(key, i);
                 }));
  })->Iterations(1);
}

}  // namespace landtrace::bench
