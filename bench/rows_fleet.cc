// The rows of many hosts.
#include <fmt/format.h>

#include "benchmarks.hpp"
#include "rows.hpp"

namespace landtrace::bench {
namespace {

class FleetRows {
 public:
  explicit FleetRows(const Results& results) : results_(results), absent_(reason_without_fleet()) {}

  std::vector<Row> make() {
    hosts(name::kFleetHosts, "1,000 hosts x 20 keys every 10 s", 10, 2, 5);
    hosts(name::kFleetManyHosts, "10,000 hosts x 20 keys every 10 s", {}, {}, {});
    row("frames through one collector", of(name::kFleetCollector, "rate"), "/s", 20'000, true,
        fmt::format("{:.0f} of a CPU second", value(name::kFleetCollector, "per_cpu_s")));
    past();
    agent();
    return std::move(rows_);
  }

 private:
  [[nodiscard]] Figure of(const char* benchmark, const char* which) const { return results_.median(benchmark, which); }
  [[nodiscard]] double value(const char* benchmark, const char* which) const {
    return of(benchmark, which).value_or(0);
  }

  void row(std::string what, const Figure& figure, const char* unit, const Figure& bar, bool at_least,
           std::string note) {
    Verdict verdict = bar ? Verdict::kNotRun : Verdict::kNoBar;
    if (bar && figure) verdict = (at_least ? *figure >= *bar : *figure <= *bar) ? Verdict::kMet : Verdict::kNotMet;
    rows_.push_back(
        {std::move(what), figure, unit, "", {}, {}, bar, at_least, verdict, figure ? std::move(note) : absent_});
  }

  void hosts(const char* benchmark, const std::string& them, const Figure& cpu, const Figure& began,
             const Figure& told) {
    row(them + ": NATS and collector", of(benchmark, "both"), "%", cpu, false,
        fmt::format("of a core; the server {:.1f}, the collector {:.1f}; {:.0f} frames/s; {:.0f} and {:.0f} MB",
                    value(benchmark, "server"), value(benchmark, "collector"), value(benchmark, "frames"),
                    value(benchmark, "server_mb"), value(benchmark, "collector_mb")));
    row("  an order is at all of them", of(benchmark, "began"), "s", began, false, "from the command's start");
    row("  and all have said so", of(benchmark, "reported"), "s", told, false, "as the command tells it");
    row("  p99 by route from a collector's memory", of(benchmark, "asked"), "s", told ? Figure(0.1) : Figure(), false,
        "question and answer");
  }

  void past() {
    const char* const benchmark = name::kFleetPast;
    row("p99 by route of 1,000 hosts' last hour, from memory", of(benchmark, "memory_s"), "s", 0.1, false,
        fmt::format("the command as a user has it; {:.0f} MB", value(benchmark, "memory_mb")));
    row("  the same from the store", of(benchmark, "store_s"), "s", 0.5, false, "likewise");
    row("  that hour's frames, at once, through the collector", of(benchmark, "memory_frames_per_s"), "/s", {}, true,
        fmt::format("{:.0f}/s into the store", value(benchmark, "store_frames_per_s")));
  }

  void agent() {
    const char* const benchmark = name::kFleetAgent;
    row("agent, 100 histograms of 1,000 keys", of(benchmark, "agent"), "%", 1, false,
        fmt::format("of a core; landtraced {:.2f} more for it; {:.0f} frames of {:.1f} KB each 10 s",
                    value(benchmark, "daemon"), value(benchmark, "frames"), value(benchmark, "frame_kb")));
    row("  what it has in memory", of(benchmark, "memory_mb"), "MB", 30, false, "resident, the most of it");
    row("  an event that it reads, over one that nobody reads", of(benchmark, "cost"), "x", 1.1, false,
        fmt::format("{:.1f} and {:.1f} ns", value(benchmark, "with_ns"), value(benchmark, "without_ns")));
    row("  the same while the transport is away", of(benchmark, "cost_away"), "x", 1.1, false,
        fmt::format("{:.0f} MB in the agent then", value(benchmark, "memory_away_mb")));
  }

  const Results& results_;
  const std::string absent_;
  std::vector<Row> rows_;
};

}  // namespace

std::vector<Row> make_fleet_rows(const Results& results) { return FleetRows(results).make(); }

}  // namespace landtrace::bench
