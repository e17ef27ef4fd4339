// What comes through a mount: writes, reading the trace, lists of many events; and what an idle daemon costs.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "benchmarks.hpp"
#include "mounted_domain.hpp"

namespace landtrace::bench {
namespace {

std::vector<double> numbers_of(const std::string& line) {
  std::istringstream words(line);
  std::vector<double> numbers;
  for (double number = 0; words >> number;) numbers.push_back(number);
  return numbers;
}

// Other work on the machine makes these slower than they are: how much there was.
void note_load(benchmark::State& state) {
  double load = 0;
  ::getloadavg(&load, 1);
  state.counters["load"] = load;
}

void writes(benchmark::State& state, const Setting& setting, const char* writers) {
  for (auto _ : state) {
    const MountedDomain domain(setting, "bench_mount", "4M");
    const auto said = numbers_of(run(role("mount-writer", {domain.folder(), writers, setting.quick ? "200" : "1000"})));
    if (static_cast<double>(domain.written()) != said.at(2))
      state.SkipWithError("not all that was written is recorded");
    state.counters[kValue] = said[0];
    state.counters["per_second"] = said[1];
    state.counters["round_trip"] = said.at(3);
    note_load(state);
  }
}

void trace(benchmark::State& state, const Setting& setting) {
  constexpr double kEvents = 1'000'000;
  for (auto _ : state) {
    const MountedDomain domain(setting, "bench_recorded", "64M");
    run(role("filler", {domain.socket(), "1000000"}));
    const auto said = numbers_of(run(role("trace-reader", {domain.folder()})));
    if (said.at(1) < kEvents) state.SkipWithError("events are missing");
    state.counters[kValue] = said[0];
    note_load(state);
  }
}

void lists(benchmark::State& state, const Setting& setting) {
  for (auto _ : state) {
    const MountedDomain domain(setting, "none", "1M");
    const auto said = numbers_of(run(role("mount-lister", {domain.folder(), "1000"})));
    state.counters[kValue] = said.at(0);
    state.counters["names"] = said.at(1);
    state.counters["set_event"] = said.at(2);
    note_load(state);
  }
}

void idle(benchmark::State& state, const Setting& setting) {
  for (auto _ : state) {
    const MountedDomain domain(setting, "bench_held,bench_many_0", "1M");
    Child holder(role("mount-holder", {domain.folder()}));
    Child native(role("registrar", {domain.socket(), "1"}));
    if (holder.line() != "ready" || native.line() != "ready") throw Broken("a client of the idle daemon");
    ::sleep(1);  // for what it does after they have come
    const std::uint64_t before = domain.cpu_ns();
    ::sleep(5);
    state.counters[kValue] = static_cast<double>(domain.cpu_ns() - before);
    note_load(state);
  }
}

}  // namespace

void add_mount(const Setting& setting) {
  if (!reason_not_to_mount().empty()) return;
  const int repetitions = std::min(setting.repetitions, 3);
  const auto add = [&](const char* name, auto function) {
    benchmark::RegisterBenchmark(name, function)->Iterations(1)->Repetitions(repetitions);
  };
  add(name::kMountWrite, [&](auto& state) { writes(state, setting, "1"); });
  add(name::kMountFourWriters, [&](auto& state) { writes(state, setting, "4"); });
  add(name::kMountTrace, [&](auto& state) { trace(state, setting); });
  add(name::kMountLists, [&](auto& state) { lists(state, setting); });
  benchmark::RegisterBenchmark(name::kIdle, [&](auto& state) { idle(state, setting); })->Iterations(1)->Repetitions(1);
}

}  // namespace landtrace::bench
