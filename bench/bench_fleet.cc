// Many hosts: simulated ones behind a nats-server and a collector, and a real one whose agent has much to send.
// fleet.py starts all of that.
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "benchmarks.hpp"

namespace landtrace::bench {
namespace {

#ifdef LANDTRACE_FLEET_SCRIPT
constexpr const char* kServer = "/usr/sbin/nats-server";

void fleet(benchmark::State& state, const std::string& self, const std::vector<std::string>& words) {
  for (auto _ : state) {
    Command command{{"python3", LANDTRACE_FLEET_SCRIPT}, {{"LD_PRELOAD", ""}, {"LANDTRACE_SOCKET", ""}}};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.environment.emplace_back("BUILD", std::filesystem::path(self).parent_path().parent_path());
    std::istringstream said;
    try {
      said.str(run(command));
    } catch (const Broken& error) {
      return state.SkipWithError(error.what());  // the other rows are measured all the same
    }
    std::string name;
    for (double value = 0; said >> name >> value;) state.counters[name] = value;
  }
}
#endif

}  // namespace

std::string reason_without_fleet() {
#ifdef LANDTRACE_FLEET_SCRIPT
  if (::access(kServer, X_OK) != 0) return "nats-server is not installed";
  for (const char* const program : {LANDTRACE_PROGRAM, LANDTRACE_DAEMON}) {
    if (::access(program, X_OK) != 0) return "it takes the programs landtrace and landtraced";
  }
  return "";
#else
  return "built without libnats (libnats-dev)";
#endif
}

void add_fleet() {
#ifdef LANDTRACE_FLEET_SCRIPT
  if (!reason_without_fleet().empty()) return;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const auto add = [&](const char* name, const std::vector<std::string>& words) {
    benchmark::RegisterBenchmark(name, [self, words](auto& state) { fleet(state, self, words); })
        ->Iterations(1)
        ->Repetitions(1);
  };
  add(name::kFleetHosts, {"hosts", "1000", "20", "20"});
  add(name::kFleetManyHosts, {"hosts", "10000", "20", "40"});
  add(name::kFleetCollector, {"collector", "3000", "24000"});
  add(name::kFleetPast, {"past", "1000", "20", "8"});
  add(name::kFleetAgent, {"agent", "100", "1000", "20"});
#endif
}

}  // namespace landtrace::bench
