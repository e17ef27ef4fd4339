// Histograms in the program that the events happen in: by one key with one value; a latency between two events that
// makes a third; two threads at once; a million keys. Against recording every event, and adding up afterwards what
// was read.
#include <landtrace/landtrace.hpp>

#include <fmt/format.h>

#include "benchmarks.hpp"
#include "hist_events.hpp"
#include "timing.hpp"
#include "windows.hpp"

namespace landtrace::bench {
namespace {

constexpr std::uint32_t kKeys = 64;

// Threads that stay on a CPU each have a key of their own.
std::uint32_t own_key() { return 1000 + static_cast<std::uint32_t>(::sched_getcpu()); }

void one_key_one_value(benchmark::State& state, Owner& owner) {
  const RecordedCheck check([&] { return owner.hist("hits bench_hist_count"); });
  std::uint32_t i = 0;
  for (auto _ : state) {
    HistCount::emit(i % kKeys, i);
    ++i;
    benchmark::ClobberMemory();
  }
  check.expect(state, i);
}

void latency(benchmark::State& state, Owner& owner) {
  const RecordedCheck check([&] { return owner.written(); });
  std::uint32_t i = 0;
  for (auto _ : state) {
    HistStart::emit(i % kKeys, i);
    HistDone::emit(i % kKeys, i);
    ++i;
    benchmark::ClobberMemory();
  }
  check.expect(state, i);
}

// What the rings hold is recorded, then read and added up.
void record_and_aggregate(benchmark::State& state, Owner& owner) {
  constexpr std::uint64_t kEvents = 20'000;
  for (auto _ : state) {
    const std::uint64_t begin = thread_cpu_ns();
    for (std::uint32_t i = 0; i < kEvents; ++i) HistRecorded::emit(i % kKeys, i);
    const std::uint64_t recorded = thread_cpu_ns() - begin;
    const std::uint64_t read = owner.hist("aggregate bench_hist_recorded");
    state.counters[kValue] = static_cast<double>(recorded + read) / kEvents;
    state.counters["record"] = static_cast<double>(recorded) / kEvents;
  }
}

// A program of its own: what it has in memory when it has counted a million keys, with all of the shared memory that
// this took.
void million_keys(benchmark::State& state, const Setting& setting) {
  for (auto _ : state) {
    Owner owner(setting.folder + "/hist.sock");
    Child counter(role("key-counter", {owner.socket()}));
    if (counter.line() != "ready") throw Broken("who counts keys");
    owner.hist("count bench_hist_count 1048576");
    counter.send("go");
    const std::string answer = counter.line();
    const std::uint64_t hits = owner.hist("hits bench_hist_count");
    if (hits != kManyKeys) state.SkipWithError(fmt::format("{} hits", hits).c_str());
    state.counters[kValue] = std::stod(answer);
  }
}

}  // namespace

void add_hist(Owner& owner, const Setting& setting) {
  static_cast<void>(HistCount::registration());
  static_cast<void>(HistStart::registration());
  static_cast<void>(HistDone::registration());
  static_cast<void>(HistMade::registration());
  static_cast<void>(HistRecorded::registration());
  owner.hist("count bench_hist_count 2048");
  owner.hist("latency bench_hist_start bench_hist_done bench_hist_made");
  owner.listen("user_events:bench_hist_made");
  owner.listen("user_events:bench_hist_recorded");
  benchmark::RegisterBenchmark(name::kHistOne, [&owner](auto& state) { one_key_one_value(state, owner); });
  benchmark::RegisterBenchmark(name::kHistLatency, [&owner](auto& state) { latency(state, owner); });
  benchmark::RegisterBenchmark(name::kHistAfterwards, [&owner](auto& state) {
    record_and_aggregate(state, owner);
  })->Iterations(1);
  benchmark::RegisterBenchmark(name::kHistMillion, [&setting](auto& state) { million_keys(state, setting); })
      ->Iterations(1)
      ->Repetitions(1);
  if (our_cpus().size() < 2) return;
  const int rounds = setting.quick ? 30 : 100;
  benchmark::RegisterBenchmark(name::kHistThreads, [&owner, rounds](benchmark::State& state) {
    const RecordedCheck check([&] { return owner.hist("hits bench_hist_count"); });
    check.expect(state, compare_one_with_two(state, rounds, [] {
                   const std::uint32_t key = own_key();
                   for (std::uint64_t i = 0; i < kBlock; ++i) HistCount::emit(key, i);
                 }));
  })->Iterations(1);
}

}  // namespace landtrace::bench
