#include "rows.hpp"

#include <fmt/format.h>

#include "benchmarks.hpp"
#include "mounted_domain.hpp"

namespace landtrace::bench {
namespace {

constexpr double kMillion = 1e6;
constexpr double kMb = 1e6;
constexpr double kNsPerUs = 1e3;
constexpr double kNsPerS = 1e9;

Verdict judge(const std::optional<double>& figure, double bar, bool at_least) {
  if (!figure) return Verdict::kNotRun;
  return (at_least ? *figure >= bar : *figure <= bar) ? Verdict::kMet : Verdict::kNotMet;
}

std::optional<double> scaled(std::optional<double> value, double by) {
  if (value) *value /= by;
  return value;
}

class Rows {
 public:
  explicit Rows(const Results& results) : results_(results) {}

  void information(std::string what, const std::string& benchmark) {
    rows.push_back({std::move(what), results_.median(benchmark), "ns", "", {}, {}, {}, false, Verdict::kNoBar, ""});
  }
  // A figure of its own against a bar.
  void alone(std::string what, std::optional<double> ours, const char* unit, double bar, bool at_least,
             std::string note, std::string why_not = "") {
    rows.push_back({std::move(what),
                    ours,
                    unit,
                    "",
                    {},
                    {},
                    bar,
                    at_least,
                    judge(ours, bar, at_least),
                    ours ? std::move(note) : std::move(why_not)});
  }
  // Time of ours over time of the peer.
  void ratio(std::string what, const char* ours, const std::string& peer_name, const char* peer, double bar,
             const std::string& absent) {
    ratio(std::move(what), results_.median(ours), peer_name, results_.median(peer), bar, absent);
  }
  void ratio(std::string what, std::optional<double> ours, const std::string& peer_name, std::optional<double> peer,
             double bar, const std::string& absent) {
    Row row{std::move(what), ours, "ns", peer_name, peer, {}, bar, false, Verdict::kPeerAbsent, absent};
    row.ratio = quotient(ours, peer);
    if (absent.empty()) row.verdict = judge(row.ratio, bar, false);
    rows.push_back(std::move(row));
  }

  std::vector<Row> rows;

 private:
  const Results& results_;
};

void add_events(Rows& rows, const Results& results, const Setting& setting) {
  auto disabled = results.median(name::kDisabled);
  const auto empty = results.median(name::kEmptyLoop);
  std::string note;
  if (disabled && empty) {
    note = fmt::format("{:.2f} ns with the loop, {:.2f} ns without the event", *disabled, *empty);
    *disabled -= *empty;
  }
  rows.alone("disabled event, native, over an empty loop", empty ? disabled : std::nullopt, "ns", 1, false, note);
  rows.ratio("recorded event, native, 16 bytes", name::kRecorded, "rdtsc", name::kClock, 1.6, "");
  rows.ratio("recorded event, C macro, 16 bytes", name::kRecordedByMacro, "C++ Event<>", name::kRecorded, 1.1, "");
  auto disabled_macro = results.median(name::kDisabledMacro);
  if (disabled_macro && empty) *disabled_macro -= *empty;
  rows.alone("disabled event, C macro, over an empty loop", empty ? disabled_macro : std::nullopt, "ns", 1, false, "");
  rows.ratio("recorded event, native, 16 bytes", name::kRecorded, "LTTng-UST tracepoint", name::kLttng, 0.16,
             setting.lttng.absent);
  rows.ratio("recorded event, shim writev, 16 bytes", name::kShim, "rdtsc", name::kClock, 2.6, "");
  rows.ratio("recorded event, shim writev, 16 bytes", name::kShim, "kernel trace_marker", name::kMarker, 0.10,
             setting.tracefs.absent);
}

void add_filters(Rows& rows, const Results& results) {
  const auto empty = results.median(name::kEmptyLoop).value_or(0);
  const auto alone = [&](const char* what, const char* benchmark, double bar) {
    auto figure = results.median(benchmark);
    if (figure) *figure -= empty;
    rows.alone(what, figure, "ns", bar, false, "the evaluator alone, over an empty loop");
  };
  alone("filter, n == 5", name::kFilterOne, 4);
  alone("filter, n == 4 && s > 0", name::kFilterTwo, 6);
  alone("filter, text ~ \"*abc*\" in 32 bytes", name::kFilterInside, 40);
  rows.information("filter, text ~ \"*j?mp[a-z] *x*\" in 32 bytes", name::kFilterGlob);
}

void add_rules(Rows& rows, const Results& results, const Setting& setting) {
  // A switch that refuses stands for finding the plan: into the library, to the thread's place, to the plan and out.
  const auto over = [&](const char* what, const char* benchmark, const char* found, double bar) {
    auto figure = results.median(benchmark);
    const auto base = results.median(found);
    std::string note;
    if (figure && base) {
      note = fmt::format("{:.1f} ns in all, {:.1f} ns where a switch refuses it, {:.1f} ns disabled", *figure, *base,
                         results.median(name::kDisabled).value_or(0));
      *figure -= *base;
    }
    rows.alone(what, base ? figure : std::nullopt, "ns", bar, false, note);
  };
  over("refused in a program, n == 5, over the look-up", name::kRuleOne, name::kRuleFound, 4);
  over("refused in a program, n == 4 && s > 0", name::kRuleTwo, name::kRuleFound, 6);
  over("refused in a program, text ~ \"*abc*\"", name::kRuleInside, name::kRuleFoundText, 40);
  rows.information("refused by a trigger's filter, not recorded", name::kRuleWatched);
  rows.information("refused by a trigger's filter, recorded", name::kRuleTriggered);
  const auto against = [&](const char* what, const char* ours, const char* peer) {
    rows.ratio(what, ours, "LTTng-UST's filter", peer, 1, setting.lttng.absent);
  };
  against("refused in a program, n == 5", name::kRuleOne, name::kLttngOne);
  against("refused in a program, n == 4 && s > 0", name::kRuleTwo, name::kLttngTwo);
  against("refused in a program, text ~ \"*abc*\"", name::kRuleInside, name::kLttngInside);
  against("passed by n == 4 and recorded", name::kRulePassed, name::kLttngPassed);
}

void add_snapshot(Rows& rows, const Results& results) {
  const std::string absent = reason_not_to_mount();
  const auto row = [&](const char* what, const char* benchmark, const char* more) {
    const auto counted = [&](const char* which) { return results.median(benchmark, which).value_or(0); };
    rows.alone(what, scaled(results.median(benchmark), kNsPerUs), "us", 1000, false,
               fmt::format("median; slowest {:.1f} us; {} {:.0f} us; load {:.1f}", counted("slowest") / kNsPerUs, more,
                           counted("more") / kNsPerUs, counted("load")),
               absent);
  };
  row("snapshot of 8 MB rings, by a trigger, in its program", name::kSnapshotTrigger, "as the owner arms it");
  row("snapshot of 8 MB rings, echo 1 > snapshot", name::kSnapshotFile, "with rings to be made");
}

void add_hist(Rows& rows, const Results& results) {
  const auto empty = results.median(name::kEmptyLoop).value_or(0);
  const auto over_loop = [&](const char* benchmark) {
    auto figure = results.median(benchmark);
    if (figure) *figure -= empty;
    return figure;
  };
  rows.alone("histogram by one u32 key with one value", over_loop(name::kHistOne), "ns", 30, false,
             fmt::format("{:.1f} ns where a switch refuses it", results.median(name::kRuleFound).value_or(0)));
  rows.ratio("histogram by one u32 key with one value", name::kHistOne, "recorded, read and added up",
             name::kHistAfterwards, 1, "");
  rows.alone("latency by onmatch().trace(), both events", over_loop(name::kHistLatency), "ns", 120, false,
             "with the event that is made of them, recorded");
  rows.alone("histogram, two threads on distinct keys over one", results.median(name::kHistThreads), "x", 1.7, true,
             fmt::format("{:.1f} and {:.1f} M/s in the best 2 ms windows",
                         results.median(name::kHistThreads, "two").value_or(0) / kMillion,
                         results.median(name::kHistThreads, "one").value_or(0) / kMillion),
             "it takes two CPUs");
  rows.alone("histogram of 1,000,000 u32 keys, size 1048576", scaled(results.median(name::kHistMillion), kMb), "MB",
             256, false, "all that its program has resident");
  const auto reading = [&](const char* what, const char* benchmark) {
    rows.alone(what, scaled(results.median(benchmark), kNsPerS), "s", 0.4, false,
               fmt::format("{:.0f} MB; CPU: owner {:.2f} s, reader {:.2f} s",
                           results.median(benchmark, "bytes").value_or(0) / kMb,
                           results.median(benchmark, "owner_cpu").value_or(0) / kNsPerS,
                           results.median(benchmark, "reader_cpu").value_or(0) / kNsPerS));
    rows.alone("another client's slowest answer meanwhile", scaled(results.median(benchmark, "slowest"), kNsPerMs),
               "ms", 10, false,
               fmt::format("of {:.0f}, one each millisecond", results.median(benchmark, "answers").value_or(0)));
  };
  reading("reading a histogram of 1,000,000 rows", name::kHistRead);
  reading("the same with types, for `landtrace hist`", name::kHistTables);
}

void add_bpf(Rows& rows, const Results& results) {
  const auto found = results.median(name::kRuleFound);
  const auto over_found = [&](const char* what, const char* benchmark, double bar) {
    auto figure = results.median(benchmark);
    std::string note;
    if (figure && found) {
      note = fmt::format("{:.1f} ns in all, {:.1f} ns where a switch refuses it", *figure, *found);
      *figure -= *found;
    }
    rows.alone(what, found ? figure : std::nullopt, "ns", bar, false, note);
  };
  over_found("eBPF, status >= 500 && d > 1000000, compiled, over the look-up", name::kBpfCompiled, 6);
  over_found("the same, interpreted", name::kBpfInterpreted, 25);
  const auto of_filter = [&](const char* benchmark) {
    auto figure = results.median(benchmark);
    if (figure && found) *figure -= *found;
    return figure;
  };
  const auto program = of_filter(name::kBpfCompiled);
  const auto own = of_filter(name::kBpfOwnFilter);
  if (program && own && found) {
    rows.alone("the same, compiled, over our own filter", *program / *own, "x", 2, false,
               fmt::format("{:.1f} and {:.1f} ns over the look-up", *program, *own));
  }
  over_found("eBPF, count by a u32 key in a hash, compiled", name::kBpfCount, 40);
  rows.ratio("eBPF, count by a u32 key in a hash, compiled", name::kBpfCount, "the trigger hist:keys=id",
             name::kBpfCountHist, 1, "");
  rows.information("eBPF, count by a u32 key in a hash, interpreted", name::kBpfCountInterpreted);
  rows.alone("eBPF, two threads on distinct keys over one", results.median(name::kBpfThreads), "x", 1.7, true,
             fmt::format("{:.1f} and {:.1f} M/s in the best 2 ms windows",
                         results.median(name::kBpfThreads, "two").value_or(0) / kMillion,
                         results.median(name::kBpfThreads, "one").value_or(0) / kMillion),
             "it takes two CPUs");
}

void add_threads(Rows& rows, const Results& results) {
  const auto per_second = [&](const char* which) {
    return results.median(name::kTwoThreads, which).value_or(0) / kMillion;
  };
  const auto clock = results.median(name::kTwoThreadsClock);
  rows.alone("two threads on two CPUs over one", results.median(name::kTwoThreads), "x", 1.8, true,
             fmt::format("{:.1f} and {:.1f} M/s in the best 2 ms windows; bare rdtsc scales {:.2f} x here",
                         per_second("two"), per_second("one"), clock.value_or(0)),
             "it takes two CPUs");
}

void add_stream(Rows& rows, const Results& results) {
  const auto sum = [&](const char* which) { return results.sum(name::kStream, which); };
  rows.alone("streaming to trace.dat, 32 bytes, written per second", scaled(results.median(name::kStream), kMillion),
             "M/s", 12, true,
             fmt::format("{:.0f} emitted = {:.0f} written + {:.0f} lost, in all repetitions; best {:.1f} M/s",
                         sum("emitted"), sum("written"), sum("lost"), results.largest(name::kStream) / kMillion),
             "it takes the programs landtrace and example_load");
}

void add_report(Rows& rows, const Results& results) {
  const auto ours = results.median(name::kReport, "by_landtrace");
  const auto peer = results.median(name::kReport, "by_trace_cmd");
  rows.alone("trace-cmd report over landtrace report, processor time", quotient(peer, ours), "x", 15, true,
             fmt::format("{:.0f} and {:.0f} ns an event", peer.value_or(0), ours.value_or(0)), reason_not_to_report());
}

void add_readers(Rows& rows, const Results& results) {
  const std::string absent = reason_not_to_read();
  const auto of = [&](const char* which) { return results.median(name::kReaders, which); };
  rows.ratio("recorded, and perf record -a reads it", of("by_perf"), "landtrace record reads it", of("by_landtrace"),
             1.1, absent);
  rows.ratio("recorded, and perf record -a reads it", of("by_perf"), "nobody reads it", of("unread"), 1.1, absent);
  rows.alone("kept by perf record of one program at full speed", scaled(of("kept"), kMillion), "M/s", 1, true, "",
             absent);
}

void add_pages(Rows& rows, const Results& results) {
  const std::string absent = reason_not_to_look();
  const auto of = [&](const char* benchmark, const char* which) { return results.median(benchmark, which); };
  const auto row = [&](const char* what, std::optional<double> figure, const char* unit, double bar, bool at_least,
                       const std::string& note = "") { rows.alone(what, figure, unit, bar, at_least, note, absent); };
  row("page of 1,000,000 events, zoomed and panned", of(name::kPageView, "frames"), "/s", 30, true,
      fmt::format("worst frame {:.0f} ms, loaded in {:.0f} ms", of(name::kPageView, "worst").value_or(0),
                  of(name::kPageView, "loaded").value_or(0)));
  row("live page at 100,000 events/s, updates", of(name::kPageLive, "updates"), "/s", 10, true);
  row("the same, landtrace ui of a CPU", of(name::kPageLive, "looked_at"), "%", 20, false);
  row("the same, where nobody looks", of(name::kPageLive, "alone"), "%", 5, false);
}

void add_owner(Rows& rows, const Results& results) {
  for (const auto& [benchmark, events] : {std::pair{name::kMemory100, "100"}, {name::kMemory10000, "10,000"}}) {
    rows.alone(fmt::format("owner, resident beside the rings, {} events", events),
               scaled(results.median(benchmark), kMb), "MB", 12, false,
               fmt::format("{:.1f} MB of it control segment; data segments with the rings, not counted: {:.1f} MB",
                           results.median(benchmark, "control_segment").value_or(0) / kMb,
                           results.median(benchmark, "data_segments").value_or(0) / kMb));
  }
  const auto slowest = [&](const char* benchmark) {
    return fmt::format("slowest {:.2f} ms", results.median(benchmark, "slowest").value_or(0) / kNsPerMs);
  };
  rows.alone("attach, fresh process", scaled(results.median(name::kAttach), kNsPerMs), "ms", 1, false,
             slowest(name::kAttach));
  rows.alone("enabling reaches 100 programs", scaled(results.median(name::kEnable), kNsPerMs), "ms", 10, false,
             slowest(name::kEnable));
}

void add_mount(Rows& rows, const Results& results) {
  const std::string absent = reason_not_to_mount();
  const auto load = [&](const char* benchmark) {
    return fmt::format("load {:.1f}", results.median(benchmark, "load").value_or(0));
  };
  const auto write = results.median(name::kMountWrite);
  const auto bare = results.median(name::kMountWrite, "round_trip");
  std::string note;
  if (write && bare) {
    note = fmt::format("median; {:.2f} x a round trip that does nothing ({:.1f} us); {}", *write / *bare,
                       *bare / kNsPerUs, load(name::kMountWrite));
  }
  rows.alone("write through the mount, 16 bytes, one writer", scaled(write, kNsPerUs), "us", 12, false, note, absent);
  const auto one = results.median(name::kMountWrite, "per_second"),
             four = results.median(name::kMountFourWriters, "per_second");
  if (four) note = fmt::format("one writer {:.0f}; {}", one.value_or(0), load(name::kMountFourWriters));
  rows.alone("writes per second through the mount, four writers", four, "/s", 100'000, true, note, absent);
  rows.alone("trace of 1,000,000 events read through the mount", scaled(results.median(name::kMountTrace), kNsPerMs),
             "ms", 1500, false, load(name::kMountTrace), absent);
  const auto list = [&](const char* what, std::optional<double> ns) {
    rows.alone(what, scaled(ns, kNsPerMs), "ms", 50, false, load(name::kMountLists), absent);
  };
  list("1,000 events: available_events", results.median(name::kMountLists));
  list("1,000 events: names in events/user_events", results.median(name::kMountLists, "names"));
  list("1,000 events: all enabled by set_event", results.median(name::kMountLists, "set_event"));
  rows.alone("idle daemon, a mount and two clients, CPU in 5 s", scaled(results.median(name::kIdle), kNsPerMs), "ms", 0,
             false, load(name::kIdle), absent);
}

}  // namespace

std::vector<Row> make_rows(const Results& results, const Setting& setting) {
  Rows rows(results);
  add_events(rows, results, setting);
  add_filters(rows, results);
  rows.information("stack of ten frames", name::kStack);
  rows.information("the same by glibc's backtrace()", name::kBacktrace);
  add_rules(rows, results, setting);
  add_snapshot(rows, results);
  add_hist(rows, results);
  add_bpf(rows, results);
  add_threads(rows, results);
  add_stream(rows, results);
  add_report(rows, results);
  add_readers(rows, results);
  add_pages(rows, results);
  add_owner(rows, results);
  add_mount(rows, results);
  for (Row& row : make_probe_rows(results, setting)) rows.rows.push_back(std::move(row));
  for (Row& row : make_fleet_rows(results)) rows.rows.push_back(std::move(row));
  rows.information("recorded event, native, 16 bytes, portable writer", name::kPortable);
  for (const int size : name::kPayloads) {
    rows.information(fmt::format("recorded event, C API, {} bytes", size), name::kPayload + std::to_string(size));
  }
  if (!setting.filter.empty()) std::erase_if(rows.rows, [](const Row& row) { return !row.ours; });
  return std::move(rows.rows);
}

}  // namespace landtrace::bench
