// The measuring process: starts the domain, runs all benchmarks, checks the peers' side, prints.
#include <fmt/format.h>

#include "benchmarks.hpp"
#include "lttng_session.hpp"
#include "roles.hpp"
#include "table.hpp"

namespace landtrace::bench {
namespace {

void initialize(const Setting& setting) {
  std::vector<std::string> arguments = {"landtrace_bench", "--benchmark_enable_random_interleaving=true",
                                        fmt::format("--benchmark_repetitions={}", setting.repetitions),
                                        fmt::format("--benchmark_min_time={}", setting.quick ? "0.02" : "0.1")};
  if (!setting.filter.empty()) arguments.push_back("--benchmark_filter=" + setting.filter);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
}

void add_all(Owner& owner, const Setting& setting) {
  add_native(owner, setting);
  add_filter();
  add_stack();
  add_rules(owner);
  add_snapshot(setting);
  add_hist(owner, setting);
  add_bpf(owner, setting);
  add_peers(setting);
  add_shim(owner);
  add_threads(owner, setting);
  add_stream(setting);
  add_report(setting);
  add_readers(setting);
  add_pages();
  add_owner(owner, setting);
  add_mount(setting);
  add_probes(setting);
  add_fleet();
}

// LTTng has no counter of events: its session must list the event as enabled, and its buffers must be full.
void check_lttng(const Setting& setting, const Results& results) {
  if (!results.median(name::kLttng)) return;
  constexpr std::uint64_t kAtLeast = 1u << 20;
  const std::string list = lttng({"list", setting.lttng.where}, setting.folder);
  if (list.find("landtrace_bench:sixteen") == std::string::npos || list.find("[enabled]") == std::string::npos) {
    throw Broken("LTTng's session does not have the event:\n" + list);
  }
  const auto [recorded, refused] = lttng_snapshot_bytes(setting.lttng.where, setting.folder);
  if (recorded < kAtLeast) throw Broken(fmt::format("LTTng's buffers hold only {} bytes", recorded));
  if (refused >= kAtLeast) throw Broken(fmt::format("LTTng's filters let {} bytes through", refused));
}

}  // namespace

int measure(const Setting& setting) {
  Owner owner(setting.folder + "/domain.sock");
  for (const char* const pattern : {"bench_recorded", "bench_payload_*", "bench_shim"}) {
    owner.listen(fmt::format("user_events:{}", pattern));
  }
  initialize(setting);
  add_all(owner, setting);
  Results results;
  if (benchmark::RunSpecifiedBenchmarks(&results) == 0) throw Broken("no benchmark has a name like " + setting.filter);
  check_lttng(setting, results);
  const std::vector<Row> rows = make_rows(results, setting);
  fmt::print("{}", setting.json ? json_text(rows, results) : table_text(rows, setting));
  for (const std::string& failure : results.failures()) fmt::print(stderr, "landtrace_bench: BROKEN {}\n", failure);
  return results.failures().empty() ? 0 : 1;
}

}  // namespace landtrace::bench
