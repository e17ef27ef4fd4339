// A recording as text: `landtrace report` against `trace-cmd report`, by the processor time that they take.
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "benchmarks.hpp"

namespace landtrace::bench {
namespace {

constexpr const char* kTraceCmd = "/usr/bin/trace-cmd";

// Without a loss: the rings hold it all.
void record(const Setting& setting, const std::string& file, std::uint64_t events) {
  const std::string said =
      run({{LANDTRACE_PROGRAM, "record", "--buffer-size", setting.quick ? "64M" : "2G", "-o", file, "--",
            LANDTRACE_LOAD, "--count", std::to_string(events)},
           {{"LD_PRELOAD", ""}, {"LANDTRACE_SOCKET", ""}, {"XDG_RUNTIME_DIR", setting.folder}},
           false,
           false,
           true});
  if (number_in(said, "([0-9,]+) events?, [0-9,]+ lost") != events) throw Broken("what is to be printed: " + said);
}

double cpu_of_children_ns() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto ns = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
  };
  return ns(used.ru_utime) + ns(used.ru_stime);
}

// User and system time of the whole program, with its start, for each event.
double cpu_of(const std::string& command, std::uint64_t events) {
  const double before = cpu_of_children_ns();
  run({{"sh", "-c", "exec " + command + " >/dev/null"}, {{"LD_PRELOAD", ""}}, true});
  return (cpu_of_children_ns() - before) / static_cast<double>(events);
}

void report(benchmark::State& state, const Setting& setting) {
  const std::uint64_t events = setting.quick ? 1'000'000 : 25'000'000;
  const std::string file = setting.folder + "/report.dat";
  if (!std::filesystem::exists(file)) record(setting, file, events);
  for (auto _ : state) {
    state.counters["by_landtrace"] = cpu_of(std::string(LANDTRACE_PROGRAM) + " report " + file, events);
    state.counters["by_trace_cmd"] = cpu_of(std::string(kTraceCmd) + " report -i " + file, events);
  }
}

}  // namespace

std::string reason_not_to_report() {
  for (const char* const program : {LANDTRACE_PROGRAM, LANDTRACE_LOAD}) {
    if (::access(program, X_OK) != 0) return "it takes the programs landtrace and example_load";
  }
  return ::access(kTraceCmd, X_OK) == 0 ? "" : "there is no trace-cmd";
}

void add_report(const Setting& setting) {
  if (!reason_not_to_report().empty()) return;
  benchmark::RegisterBenchmark(name::kReport, [&](auto& state) { report(state, setting); })
      ->Iterations(1)
      ->Repetitions(setting.quick ? 3 : 1);
}

}  // namespace landtrace::bench
