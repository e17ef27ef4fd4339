// Histograms in the program that the events happen in: by one key with one value; a latency between two events that
// makes a third; two threads at once; a million keys. Against recording every event, and adding up afterwards what
// was read.
#include <landtrace/landtrace.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "arch/clock.hpp"
#include "benchmarks.hpp"
#include "consumer/histograms.hpp"
#include "hist_events.hpp"
#include "ipc/socket.hpp"
#include "ipc/tree_client.hpp"
#include "timing.hpp"
#include "windows.hpp"

namespace landtrace::bench {
namespace {

constexpr std::uint32_t kKeys = 64;

template <typename T>
T or_broken(Result<T> result) {
  if (!result) throw Broken(result.error().message);
  return *std::move(result);
}
void or_broken(Result<void> result) {
  if (!result) throw Broken(result.error().message);
}

// Threads that stay on a CPU each have a key of their own.
std::uint32_t own_key() { return 1000 + static_cast<std::uint32_t>(::sched_getcpu()); }

void one_key_one_value(benchmark::State& state, Owner& owner) {
  const RecordedCheck check([&] { return owner.hist("hits bench_hist_count"); });
  std::uint32_t i = 0;
  for (auto _ : state) {
    HistCount::emit(i % kKeys, i);
    ++i;
    benchmark::ClobberMemory();
  }
  check.expect(state, i);
}

void latency(benchmark::State& state, Owner& owner) {
  const RecordedCheck check([&] { return owner.written(); });
  std::uint32_t i = 0;
  for (auto _ : state) {
    HistStart::emit(i % kKeys, i);
    HistDone::emit(i % kKeys, i);
    ++i;
    benchmark::ClobberMemory();
  }
  check.expect(state, i);
}

// What the rings hold is recorded, then read and added up.
void record_and_aggregate(benchmark::State& state, Owner& owner) {
  constexpr std::uint64_t kEvents = 20'000;
  for (auto _ : state) {
    const std::uint64_t begin = thread_cpu_ns();
    for (std::uint32_t i = 0; i < kEvents; ++i) HistRecorded::emit(i % kKeys, i);
    const std::uint64_t recorded = thread_cpu_ns() - begin;
    const std::uint64_t read = owner.hist("aggregate bench_hist_recorded");
    state.counters[kValue] = static_cast<double>(recorded + read) / kEvents;
    state.counters["record"] = static_cast<double>(recorded) / kEvents;
  }
}

// A program of its own: what it has in memory when it has counted a million keys, with all of the shared memory that
// this took.
void million_keys(benchmark::State& state, const Setting& setting) {
  for (auto _ : state) {
    Owner owner(setting.folder + "/hist.sock");
    Child counter(role("key-counter", {owner.socket()}));
    if (counter.line() != "ready") throw Broken("who counts keys");
    owner.hist("count bench_hist_count 1048576");
    counter.send("go");
    const std::string answer = counter.line();
    const std::uint64_t hits = owner.hist("hits bench_hist_count");
    if (hits != kManyKeys) state.SkipWithError(fmt::format("{} hits", hits).c_str());
    state.counters[kValue] = std::stod(answer);
  }
}

// Asks the owner something small each millisecond, and notes how long the answers take.
class Asking {
 public:
  explicit Asking(const std::string& socket)
      : connection_(or_broken(ipc::connect_to(socket))), thread_([this] { ask_until_ended(); }) {}
  ~Asking() { end(); }

  void end() {
    is_over_ = true;
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::uint64_t slowest_ns() const { return slowest_ns_; }
  [[nodiscard]] std::uint64_t answers() const { return answers_; }

 private:
  void ask_until_ended() {
    while (!is_over_) {
      const std::uint64_t begin = arch::monotonic_ns();
      if (!ipc::ask(connection_.get(), {.operation = ipc::Operation::kAbout})) return;
      slowest_ns_ = std::max(slowest_ns_, arch::monotonic_ns() - begin);
      ++answers_;
      ::usleep(1000);
    }
  }

  Fd connection_;
  std::atomic<bool> is_over_ = false;
  std::uint64_t slowest_ns_ = 0;
  std::uint64_t answers_ = 0;
  std::thread thread_;
};

std::uint64_t read_file(const std::string& socket) {
  auto tree = or_broken(ipc::TreeClient::connect(socket));
  or_broken(tree.open("events/user_events/bench_hist_count/hist", O_RDONLY));
  std::uint64_t bytes = 0;
  for (std::string piece = or_broken(tree.read()); !piece.empty(); piece = or_broken(tree.read()))
    bytes += piece.size();
  return bytes;
}

std::uint64_t read_tables(const std::string& socket) {
  const Fd connection = or_broken(ipc::connect_to(socket));
  std::uint64_t bytes = 0;
  const auto tables = or_broken(consumer::gather_histograms([&](std::uint64_t at) {
    auto answer = ipc::ask(connection.get(), {.operation = ipc::Operation::kHistograms, .a = at},
                           std::string_view("user_events\0bench_hist_count\0\0", 30));
    if (answer) bytes = answer->reply.a;
    return answer;
  }));
  if (tables.size() != 1 || tables[0].rows.size() != kManyKeys) throw Broken("not all keys were read");
  return bytes;
}

// Of a program that has counted a million keys; another one asks the owner meanwhile.
void read_million(benchmark::State& state, const Setting& setting, std::uint64_t (*read)(const std::string&)) {
  for (auto _ : state) {
    Owner owner(setting.folder + "/hist-read.sock");
    Child counter(role("key-counter", {owner.socket()}));
    if (counter.line() != "ready") throw Broken("who counts keys");
    owner.write("events/user_events/bench_hist_count/trigger", "hist:keys=id:vals=value:size=1048576");
    counter.send("go");
    counter.line();
    Asking other(owner.socket());
    const std::uint64_t owner_before = process_cpu_ns(owner.pid()), before = thread_cpu_ns();
    const std::uint64_t begin = arch::monotonic_ns();
    const std::uint64_t bytes = read(owner.socket());
    state.counters[kValue] = static_cast<double>(arch::monotonic_ns() - begin);
    other.end();
    state.counters["bytes"] = static_cast<double>(bytes);
    state.counters["owner_cpu"] = static_cast<double>(process_cpu_ns(owner.pid()) - owner_before);
    state.counters["reader_cpu"] = static_cast<double>(thread_cpu_ns() - before);
    state.counters["slowest"] = static_cast<double>(other.slowest_ns());
    state.counters["answers"] = static_cast<double>(other.answers());
  }
}

}  // namespace

void add_hist(Owner& owner, const Setting& setting) {
  static_cast<void>(HistCount::registration());
  static_cast<void>(HistStart::registration());
  static_cast<void>(HistDone::registration());
  static_cast<void>(HistMade::registration());
  static_cast<void>(HistRecorded::registration());
  owner.hist("count bench_hist_count 2048");
  owner.hist("latency bench_hist_start bench_hist_done bench_hist_made");
  owner.listen("user_events:bench_hist_made");
  owner.listen("user_events:bench_hist_recorded");
  benchmark::RegisterBenchmark(name::kHistOne, [&owner](auto& state) { one_key_one_value(state, owner); });
  benchmark::RegisterBenchmark(name::kHistLatency, [&owner](auto& state) { latency(state, owner); });
  benchmark::RegisterBenchmark(name::kHistAfterwards, [&owner](auto& state) {
    record_and_aggregate(state, owner);
  })->Iterations(1);
  benchmark::RegisterBenchmark(name::kHistMillion, [&setting](auto& state) { million_keys(state, setting); })
      ->Iterations(1)
      ->Repetitions(1);
  const int readings = std::min(setting.repetitions, 3);
  const auto add_reading = [&](const char* name, std::uint64_t (*read)(const std::string&)) {
    benchmark::RegisterBenchmark(name, [&setting, read](auto& state) { read_million(state, setting, read); })
        ->Iterations(1)
        ->Repetitions(readings);
  };
  add_reading(name::kHistRead, read_file);
  add_reading(name::kHistTables, read_tables);
  if (our_cpus().size() < 2) return;
  const int rounds = setting.quick ? 30 : 100;
  benchmark::RegisterBenchmark(name::kHistThreads, [&owner, rounds](benchmark::State& state) {
    const RecordedCheck check([&] { return owner.hist("hits bench_hist_count"); });
    check.expect(state, compare_one_with_two(state, rounds, [] {
                   const std::uint32_t key = own_key();
                   for (std::uint64_t i = 0; i < kBlock; ++i) HistCount::emit(key, i);
                 }));
  })->Iterations(1);
}

}  // namespace landtrace::bench
