// Snapshots of full rings of 8 MB while a program goes on: taken by a trigger in that program, and by `echo 1 >
// snapshot`.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "arch/clock.hpp"
#include "benchmarks.hpp"
#include "mounted_domain.hpp"

namespace landtrace::bench {
namespace {

constexpr const char* kRings = "8M";
constexpr int kRounds = 9;

std::uint64_t write_file(const std::string& path, const std::string& text) {
  const std::uint64_t begin = arch::monotonic_ns();
  const Fd file(::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw Broken(path + ": " + errno_text(errno));
  }
  return arch::monotonic_ns() - begin;
}

void report(benchmark::State& state, std::vector<double> ns, std::uint64_t more) {
  std::sort(ns.begin(), ns.end());
  double load = 0;
  ::getloadavg(&load, 1);
  state.counters[kValue] = ns[ns.size() / 2];
  state.counters["slowest"] = ns.back();
  state.counters["more"] = static_cast<double>(more);
  state.counters["load"] = load;
}

// A mounted domain whose rings a program fills.
class Filled {
 public:
  explicit Filled(const Setting& setting)
      : domain_(setting, "bench_recorded", kRings), filler_(role("snapshot-taker", {domain_.socket()})) {
    if (filler_.line() != "ready") throw Broken("who fills the rings");
  }

  std::uint64_t write(const std::string& file, const std::string& text) const {
    return write_file(domain_.folder() + "/" + file, text);
  }
  std::uint64_t take() const { return write("snapshot", "1\n"); }

  // Fills the rings and emits the event that a trigger may be for, which took so many ns.
  double fire() {
    filler_.send("fire");
    return std::stod(filler_.line());
  }
  // A snapshot leaves to the rings only what came after it.
  [[nodiscard]] bool is_taken() const { return domain_.written() < 1000; }

 private:
  MountedDomain domain_;
  Child filler_;
};

// `take` says how many ns it took.
template <typename Take>
void rounds(benchmark::State& state, std::uint64_t more, const Take& take, const Filled& rings) {
  std::vector<double> ns;
  for (int i = 0; i < kRounds; ++i) {
    rings.write("snapshot", "2\n");
    ns.push_back(take());
    if (!rings.is_taken()) return state.SkipWithError("there was no snapshot");
  }
  report(state, std::move(ns), more);
}

void by_trigger(benchmark::State& state, const Setting& setting) {
  for (auto _ : state) {
    Filled rings(setting);
    const std::uint64_t arming =
        rings.write("events/user_events/bench_recorded/trigger", fmt::format("snapshot if a == {:#x}\n", ~0ull));
    rounds(
        state, arming, [&] { return rings.fire(); }, rings);
  }
}

void by_file(benchmark::State& state, const Setting& setting) {
  for (auto _ : state) {
    Filled rings(setting);
    rings.fire();
    const std::uint64_t first = rings.take();
    const auto take = [&] {
      rings.fire();
      return static_cast<double>(rings.take());
    };
    rounds(state, first, take, rings);
  }
}

}  // namespace

void add_snapshot(const Setting& setting) {
  if (!reason_not_to_mount().empty()) return;
  const int repetitions = std::min(setting.repetitions, 3);
  benchmark::RegisterBenchmark(name::kSnapshotTrigger, [&](auto& state) { by_trigger(state, setting); })
      ->Iterations(1)
      ->Repetitions(repetitions);
  benchmark::RegisterBenchmark(name::kSnapshotFile, [&](auto& state) { by_file(state, setting); })
      ->Iterations(1)
      ->Repetitions(repetitions);
}

}  // namespace landtrace::bench
