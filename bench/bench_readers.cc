// What an event costs while somebody reads all that is recorded: perf, unmodified, and `landtrace record`; beside one
// that is recorded and that nobody reads. And how much perf keeps of it.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include "benchmarks.hpp"

namespace landtrace::bench {
namespace {

constexpr const char* kPerf = "/usr/bin/perf";

// Without a mount, so for everybody.
class Daemon {
 public:
  explicit Daemon(const Setting& setting)
      : socket_(setting.folder + "/landtrace/domain.sock"),
        child_({{LANDTRACE_DAEMON, "--trace-event", "bench_unread"},
                {{"LD_PRELOAD", ""}, {"LANDTRACE_SOCKET", ""}, {"XDG_RUNTIME_DIR", setting.folder}}}) {
    constexpr int kPatience_ms = 20'000;
    for (int waited = 0; ::access(socket_.c_str(), F_OK) != 0; ++waited) {
      if (waited == kPatience_ms) throw Broken("landtraced does not serve");
      ::usleep(1000);
    }
  }
  [[nodiscard]] const std::string& socket() const { return socket_; }

 private:
  std::string socket_;
  Child child_;
};

// A program that emits when it is told to, as soon as the event is on.
class Emitter {
 public:
  explicit Emitter(const std::string& socket) : child_(role("read-emitter", {socket})) {
    if (const std::string line = child_.line(); line != "ready") throw Broken("the emitter: " + line);
  }
  struct Emitted {
    double ns;  // of CPU, each
    double seconds;
    std::uint64_t events;
  };
  Emitted emit(const char* event) {
    child_.send(event);
    std::istringstream words(child_.line());
    Emitted emitted{};
    words >> emitted.ns >> emitted.seconds >> emitted.events;
    if (!words) throw Broken(std::string("nobody switches on ") + event);
    return emitted;
  }

 private:
  Child child_;
};

// Records bench_read until it is told to end.
class Reader {
 public:
  Reader(const Setting& setting, std::vector<std::string> arguments)
      : child_({std::move(arguments),
                {{"LD_PRELOAD", ""}, {"LANDTRACE_SOCKET", ""}, {"XDG_RUNTIME_DIR", setting.folder}},
                false,
                false,
                true}) {}
  // What it said at its end.
  std::string end() {
    ::kill(child_.pid(), SIGINT);
    return child_.rest();
  }

 private:
  Child child_;
};

double read_by_landtrace(const Setting& setting, Emitter& emitter) {
  const std::string file = setting.folder + "/read.dat";
  Reader reader(setting, {LANDTRACE_PROGRAM, "record", "-e", "bench_read", "-o", file});
  const auto emitted = emitter.emit("bench_read");
  const std::string said = reader.end();
  std::filesystem::remove(file);
  const std::uint64_t seen =
      number_in(said, "([0-9,]+) events?, [0-9,]+ lost") + number_in(said, "[0-9,]+ events?, ([0-9,]+) lost");
  if (seen != emitted.events) throw Broken("landtrace record did not account for all: " + said);
  return emitted.ns;
}

struct ReadByPerf {
  double ns;
  double kept_per_s;
};

ReadByPerf read_by_perf(const Setting& setting, Emitter& emitter) {
  const std::string file = setting.folder + "/perf.data";
  Reader reader(setting, {LANDTRACE_PROGRAM, "run", "--tracefs", "--", kPerf, "record", "-a", "-N", "-B", "-e",
                          "user_events:bench_read", "-o", file});
  const auto emitted = emitter.emit("bench_read");
  reader.end();
  const std::string stats =
      run({{kPerf, "report", "--stats", "-i", file}, {{"LD_PRELOAD", ""}, {"LANDTRACE_SOCKET", ""}}, true});
  std::filesystem::remove(file);
  const auto kept = static_cast<double>(number_in(stats, "SAMPLE events: *([0-9]+)"));
  return {emitted.ns, kept / emitted.seconds};
}

double median(std::vector<double> of) {
  std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
  return of[of.size() / 2];
}

// All three in one process, in turns: a neighbour of the machine can make an event half as dear again for a while.
void readers(benchmark::State& state, const Setting& setting) {
  constexpr int kTurns = 5;
  for (auto _ : state) {
    const Daemon daemon(setting);
    Emitter emitter(daemon.socket());
    std::vector<double> unread, by_landtrace, by_perf, kept;
    for (int turn = 0; turn < kTurns; ++turn) {
      unread.push_back(emitter.emit("bench_unread").ns);
      by_landtrace.push_back(read_by_landtrace(setting, emitter));
      const auto [ns, kept_per_s] = read_by_perf(setting, emitter);
      by_perf.push_back(ns);
      kept.push_back(kept_per_s);
    }
    state.counters["unread"] = median(unread);
    state.counters["by_landtrace"] = median(by_landtrace);
    state.counters["by_perf"] = median(by_perf);
    state.counters["kept"] = median(kept);
  }
}

}  // namespace

std::string reason_not_to_read() {
  for (const char* const program : {LANDTRACE_PROGRAM, LANDTRACE_DAEMON}) {
    if (::access(program, X_OK) != 0) return "it takes the programs landtrace and landtraced";
  }
  return ::access(kPerf, X_OK) == 0 ? "" : "perf is not installed (linux-perf)";
}

void add_readers(const Setting& setting) {
  if (!reason_not_to_read().empty()) return;
  benchmark::RegisterBenchmark(name::kReaders, [&](auto& state) { readers(state, setting); })->Iterations(1);
}

}  // namespace landtrace::bench
