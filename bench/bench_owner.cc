// What a domain costs beside its rings, and how fast it answers. Each in processes of its own.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "benchmarks.hpp"

namespace landtrace::bench {
namespace {

double median_of(std::vector<std::uint64_t> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return static_cast<double>(*middle);
}

// Resident bytes of a process's mappings.
struct Resident {
  std::uint64_t data_segments = 0;  // rings, thread slots, names of threads: written by producers
  std::uint64_t control_segment = 0;
  std::uint64_t rest = 0;
};

Resident resident(pid_t pid) {
  Resident sum;
  std::ifstream smaps(fmt::format("/proc/{}/smaps", pid));
  std::uint64_t* now = &sum.rest;
  for (std::string line; std::getline(smaps, line);) {
    std::istringstream words(line);
    std::string first;
    std::uint64_t kib = 0;
    words >> first;
    if (first.back() != ':') {  // a mapping's own line
      now = line.find("memfd:landtrace-data") != std::string::npos      ? &sum.data_segments
            : line.find("memfd:landtrace-control") != std::string::npos ? &sum.control_segment
                                                                        : &sum.rest;
    } else if (first == "Rss:" && words >> kib) {
      *now += kib * 1024;
    }
  }
  return sum;
}

void owner_memory(benchmark::State& state, const Setting& setting, const char* events) {
  for (auto _ : state) {
    Owner owner(setting.folder + "/memory.sock");
    owner.listen("user_events:*");
    Child registrar(role("registrar", {owner.socket(), events}));
    if (registrar.line() != "ready") throw Broken("registrar");
    const Resident bytes = resident(owner.pid());
    if (bytes.rest == 0 || bytes.control_segment == 0) state.SkipWithError("no figures in /proc");
    state.counters[kValue] = static_cast<double>(bytes.rest + bytes.control_segment);
    state.counters["control_segment"] = static_cast<double>(bytes.control_segment);
    state.counters["data_segments"] = static_cast<double>(bytes.data_segments);
  }
}

void attach(benchmark::State& state, Owner& owner, int processes) {
  for (auto _ : state) {
    std::vector<std::uint64_t> ns;
    for (int i = 0; i < processes; ++i) ns.push_back(std::stoull(run(role("attacher", {owner.socket()}))));
    state.counters[kValue] = median_of(ns);
    state.counters["slowest"] = static_cast<double>(*std::max_element(ns.begin(), ns.end()));
  }
}

bool all_say(std::vector<Child>& programs, const char* word) {
  for (Child& program : programs) program.send("?");
  bool all = true;
  for (Child& program : programs) all &= program.line() == word;
  return all;
}

void enable(benchmark::State& state, const Setting& setting, int rounds) {
  constexpr int kPrograms = 100;
  constexpr const char* kEvent = "user_events:bench_waiter";
  Owner owner(setting.folder + "/enable.sock");
  Command command = role("waiter");
  command.environment.insert(command.environment.end(),
                             {{"LD_PRELOAD", LANDTRACE_SHIM}, {"LANDTRACE_SOCKET", owner.socket()}});
  std::vector<Child> programs;
  for (int i = 0; i < kPrograms; ++i) programs.emplace_back(command);
  for (Child& program : programs) {
    if (program.line() != "ready") throw Broken("waiter");
  }
  for (auto _ : state) {
    std::vector<std::uint64_t> ns;
    for (int round = 0; round < rounds; ++round) {
      ns.push_back(owner.listen(kEvent));
      if (!all_say(programs, "1")) state.SkipWithError("a program was not enabled");
      owner.listen(kEvent, false);
      if (!all_say(programs, "0")) state.SkipWithError("a program was not disabled");
    }
    state.counters[kValue] = median_of(ns);
    state.counters["slowest"] = static_cast<double>(*std::max_element(ns.begin(), ns.end()));
  }
}

}  // namespace

void add_owner(Owner& owner, const Setting& setting) {
  const int processes = setting.quick ? 10 : 50;
  const int rounds = setting.quick ? 3 : 9;
  const int repetitions = std::min(setting.repetitions, 3);
  const auto add = [&](const char* name, auto function) {
    benchmark::RegisterBenchmark(name, function)->Iterations(1)->Repetitions(repetitions);
  };
  add(name::kMemory100, [&](auto& state) { owner_memory(state, setting, "100"); });
  add(name::kMemory10000, [&](auto& state) { owner_memory(state, setting, "10000"); });
  add(name::kAttach, [&owner, processes](auto& state) { attach(state, owner, processes); });
  add(name::kEnable, [&setting, rounds](auto& state) { enable(state, setting, rounds); });
}

}  // namespace landtrace::bench
