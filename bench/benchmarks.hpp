// The benchmarks. Each function registers some with Google Benchmark; what they emit is counted afterwards in
// whatever records it, and a difference is an error.
#pragma once

#include <benchmark/benchmark.h>

#include "owner.hpp"
#include "results.hpp"
#include "setting.hpp"

namespace landtrace::bench {

namespace name {
inline constexpr const char* kEmptyLoop = "empty_loop";
inline constexpr const char* kDisabled = "disabled";
inline constexpr const char* kRecorded = "recorded";
inline constexpr const char* kRecordedByMacro = "recorded_by_macro";
inline constexpr const char* kDisabledMacro = "disabled_macro";
inline constexpr const char* kPayload = "payload_";  // and the size
inline constexpr int kPayloads[] = {0, 16, 64, 256, 1024, 4096};
inline constexpr const char* kPortable = "recorded_portable";
inline constexpr const char* kClock = "rdtsc";
inline constexpr const char* kFilterOne = "filter_one_number";
inline constexpr const char* kFilterTwo = "filter_two_numbers";
inline constexpr const char* kFilterInside = "filter_inside_text";
inline constexpr const char* kFilterGlob = "filter_glob";
inline constexpr const char* kStack = "stack";
inline constexpr const char* kBacktrace = "stack_backtrace";
inline constexpr const char* kRuleFound = "rule_found";
inline constexpr const char* kRuleOne = "rule_refused_by_one_number";
inline constexpr const char* kRuleTwo = "rule_refused_by_two_numbers";
inline constexpr const char* kRulePassed = "rule_passed";
inline constexpr const char* kRuleWatched = "rule_trigger_refused";
inline constexpr const char* kRuleTriggered = "rule_trigger_refused_recorded";
inline constexpr const char* kRuleFoundText = "rule_found_text";
inline constexpr const char* kRuleInside = "rule_refused_by_text";
inline constexpr const char* kSnapshotTrigger = "snapshot_by_trigger";
inline constexpr const char* kSnapshotFile = "snapshot_by_file";
inline constexpr const char* kHistOne = "hist_one_key_one_value";
inline constexpr const char* kHistLatency = "hist_latency";
inline constexpr const char* kHistAfterwards = "hist_afterwards";
inline constexpr const char* kHistThreads = "hist_two_threads";
inline constexpr const char* kHistMillion = "hist_million_keys";
inline constexpr const char* kHistRead = "hist_read_million";
inline constexpr const char* kHistTables = "hist_tables_million";
inline constexpr const char* kBpfOwnFilter = "bpf_own_filter";
inline constexpr const char* kBpfCompiled = "bpf_filter_compiled";
inline constexpr const char* kBpfInterpreted = "bpf_filter_interpreted";
inline constexpr const char* kBpfCount = "bpf_count_by_key";
inline constexpr const char* kBpfCountInterpreted = "bpf_count_by_key_interpreted";
inline constexpr const char* kBpfCountHist = "bpf_count_by_histogram";
inline constexpr const char* kBpfThreads = "bpf_two_threads";
inline constexpr const char* kLttng = "lttng_tracepoint";
inline constexpr const char* kLttngOne = "lttng_refused_by_one_number";
inline constexpr const char* kLttngTwo = "lttng_refused_by_two_numbers";
inline constexpr const char* kLttngPassed = "lttng_passed";
inline constexpr const char* kLttngInside = "lttng_refused_by_text";
inline constexpr const char* kShim = "shim_writev";
inline constexpr const char* kMarker = "trace_marker";
inline constexpr const char* kTwoThreads = "two_threads";
inline constexpr const char* kTwoThreadsClock = "two_threads_rdtsc";
inline constexpr const char* kStream = "stream";
inline constexpr const char* kReport = "report";
inline constexpr const char* kReaders = "readers";
inline constexpr const char* kPageView = "page_view";
inline constexpr const char* kPageLive = "page_live";
inline constexpr const char* kFleetHosts = "fleet_1000_hosts";
inline constexpr const char* kFleetManyHosts = "fleet_10000_hosts";
inline constexpr const char* kFleetCollector = "fleet_collector";
inline constexpr const char* kFleetAgent = "fleet_agent";
inline constexpr const char* kFleetPast = "fleet_past";
inline constexpr const char* kMemory100 = "owner_memory_100";
inline constexpr const char* kMemory10000 = "owner_memory_10000";
inline constexpr const char* kAttach = "attach";
inline constexpr const char* kEnable = "enable_100";
inline constexpr const char* kMountWrite = "mount_write";
inline constexpr const char* kMountFourWriters = "mount_write_by_four";
inline constexpr const char* kMountTrace = "mount_trace";
inline constexpr const char* kMountLists = "mount_lists";
inline constexpr const char* kIdle = "idle_daemon";
inline constexpr const char* kProbes = "probes";
inline constexpr const char* kKernelProbes = "kernel_probes";
// Of probes: stands before a function's name where nothing is probed.
inline constexpr const char* kBare = "bare_";
inline constexpr const char* kThousandProbes = "probes_thousand";
}  // namespace name

void add_native(Owner& owner, const Setting& setting);
void add_filter();
void add_stack();
void add_rules(Owner& owner);
void add_snapshot(const Setting& setting);
void add_hist(Owner& owner, const Setting& setting);
void add_bpf(Owner& owner, const Setting& setting);
void add_peers(const Setting& setting);
void add_shim(Owner& owner);
void add_threads(Owner& owner, const Setting& setting);
void add_stream(const Setting& setting);
void add_report(const Setting& setting);
// Empty, or why nothing is printed here.
std::string reason_not_to_report();
void add_readers(const Setting& setting);
// Empty, or why perf reads nothing here.
std::string reason_not_to_read();
void add_pages();
// Empty, or why no page is looked at here.
std::string reason_not_to_look();
void add_fleet();
// Empty, or why there is no fleet here.
std::string reason_without_fleet();
void add_owner(Owner& owner, const Setting& setting);
void add_mount(const Setting& setting);
void add_probes(const Setting& setting);
// Empty, or why there are no probes here.
std::string reason_not_to_probe();

// Compares what a benchmark emitted with what was recorded since this was made.
template <typename Count>
class RecordedCheck {
 public:
  explicit RecordedCheck(Count count) : count_(std::move(count)), before_(count_()) {}

  // At the end of the benchmark.
  void expect(benchmark::State& state, std::uint64_t emitted) const {
    const std::uint64_t recorded = count_() - before_;
    if (recorded == emitted) return;
    state.SkipWithError(("emitted " + std::to_string(emitted) + ", recorded " + std::to_string(recorded)).c_str());
  }

 private:
  Count count_;
  std::uint64_t before_;
};

}  // namespace landtrace::bench
