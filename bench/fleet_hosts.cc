// Many hosts in one process: agents as landtrace-fleet has them, each with a connection of its own, over domains whose
// histograms are made up. bench/fleet.py starts it.
//
//   landtrace_bench_hosts SERVERS FIRST HOSTS KEYS INTERVAL_MS
//
// The first one is host-FIRST. Says "ready" when all hosts have said who they are. Then, for each line of input, one of
// output:
//   began    waits until all hosts have begun another order: the monotonic ns when the last one did
//   frames   how many frames have been made so far
//   settle   nothing is counted any more; waits until all that was counted has been sent: the sum
#include <fmt/format.h>

#include <atomic>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "arch/clock.hpp"
#include "fleet/serving/agent.hpp"

namespace landtrace::bench {
namespace {

using namespace fleet;

// What all hosts have together.
struct Shared {
  std::size_t keys = 0;
  std::size_t begun_before = 0;  // orders, by all hosts
  std::atomic<std::uint64_t> begun = 0;
  std::atomic<std::uint64_t> last_begun_ns = 0;
  std::atomic<std::uint64_t> counted = 0;
  std::atomic<std::uint64_t> frames = 0;
  std::atomic<bool> is_settled = false;
};

constexpr const char* kEvent = "user_events:made";

// A histogram that counts something at each look: by route, and by how long it took.
class MadeWork : public Work {
 public:
  MadeWork(Shared& shared, std::uint64_t seed) : shared_(shared) {
    constexpr std::size_t kStepsOfRoute = 4;
    table_.trigger = "hist:keys=route,took.steps=32:vals=hitcount";
    table_.keys = {{ipc::KeyKind::kText, "route", 0, 0}, {ipc::KeyKind::kSteps, "took", 32, 0}};
    for (std::size_t i = 0; i < shared.keys; ++i) {
      const std::uint64_t step = 1024 + (seed + i % kStepsOfRoute) % 32 * 32;
      ipc::HistogramRow& row = table_.rows.emplace_back();
      row.keys = {{0, fmt::format("/route/{}", i / kStepsOfRoute), {}}, {step, "", {}}};
    }
  }

  [[nodiscard]] int look_ms() const override { return kSeldom_ms; }
  Result<void> counted(const TakeCounted& take) override {
    if (!shared_.is_settled) {
      for (ipc::HistogramRow& row : table_.rows) row.hits += ++round_;
      std::uint64_t hits = 0;
      for (const ipc::HistogramRow& row : table_.rows) hits += row.hits;
      shared_.counted += hits - table_.hits;
      table_.hits = hits;
      ++shared_.frames;
    }
    take({kEvent, table_, {}});
    return {};
  }
  void end() override {}
  [[nodiscard]] std::uint64_t events() const override { return table_.hits; }
  std::vector<Refusal> refusals() override { return {}; }
  [[nodiscard]] std::uint32_t cpus() const override { return 1; }
  const std::deque<output::EventType>& types() override { return types_; }

 private:
  Shared& shared_;
  ipc::HistogramTable table_;
  std::uint64_t round_ = 0;
  std::deque<output::EventType> types_;
};

class MadeDomain : public AgentDomain {
 public:
  MadeDomain(Shared& shared, std::uint64_t seed) : shared_(shared), seed_(seed) {}

  Result<std::unique_ptr<Work>> begin(const AgentOptions& /*options*/, const Order& /*order*/) override {
    shared_.last_begun_ns = arch::monotonic_ns();
    ++shared_.begun;
    return std::make_unique<MadeWork>(shared_, seed_);
  }
  Result<metrics::Figures> figures() override {
    metrics::Figures figures;
    figures.events = figures.enabled = figures.users = 1;
    return figures;
  }
  Result<std::vector<metrics::HistogramFigures>> histograms(const metrics::Asker::Wants&, std::size_t) override {
    return std::vector<metrics::HistogramFigures>();
  }

 private:
  Shared& shared_;
  const std::uint64_t seed_;
};

class Host {
 public:
  Host(Shared& shared, AgentOptions options, std::uint64_t seed, Rounds& agents, Rounds& links)
      : agents_(agents), agent_(std::move(options), std::make_unique<MadeDomain>(shared, seed), [this] { ring(); }) {
    if (const auto started = agent_.start(links); !started) {
      fmt::print(stderr, "landtrace_bench_hosts: {}\n", started.error().message);
      std::exit(1);
    }
    member_ = agents_.add([this] { return agent_.round().value_or(Rounds::kNever); });
  }
  ~Host() { agents_.remove(member_); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  [[nodiscard]] bool has_sent_all() const { return agent_.link().has_sent_all(); }
  void ring() { agents_.ring(member_); }

 private:
  Rounds& agents_;
  std::atomic<Rounds::Member> member_ = 0;
  Agent agent_;
};

void wait_until(const std::function<bool()>& is_so) {
  while (!is_so()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// Rounds that were under way are over.
void wait_for_rounds(Rounds& rounds) {
  std::atomic<bool> is_over = false;
  const auto member = rounds.add([&] {
    is_over = true;
    return Rounds::kNever;
  });
  wait_until([&] { return is_over.load(); });
  rounds.remove(member);
}

std::uint64_t answer(const std::string& line, Shared& shared, std::deque<Host>& hosts, Rounds& agents) {
  if (line == "began") {
    shared.begun_before += hosts.size();
    wait_until([&] { return shared.begun >= shared.begun_before; });
    return shared.last_begun_ns;
  }
  if (line == "frames") return shared.frames;
  if (line == "settle") {
    shared.is_settled = true;
    wait_for_rounds(agents);
    for (const Host& host : hosts) wait_until([&] { return host.has_sent_all(); });
    return shared.counted;
  }
  fmt::print(stderr, "landtrace_bench_hosts: '{}'?\n", line);
  std::exit(1);
}

}  // namespace

[[noreturn]] void run(char** words) {
  constexpr std::size_t kLinkThreads = 8;  // some wait for an answer
  Shared shared;
  const auto first = std::strtoull(words[1], nullptr, 10);
  const auto count = std::strtoull(words[2], nullptr, 10);
  shared.keys = std::strtoull(words[3], nullptr, 10);
  AgentOptions options;
  options.address.servers = words[0];
  options.domain = "system";
  options.version = "simulated";
  options.interval_ms = std::strtoull(words[4], nullptr, 10);
  Rounds agents, links[kLinkThreads];
  std::deque<Host> hosts;
  for (std::uint64_t i = first; i < first + count; ++i) {
    options.host = fmt::format("host-{}", i);
    options.labels = i % 2 == 0 ? "role=web" : "role=db";
    hosts.emplace_back(shared, options, i, agents, links[i % kLinkThreads]);
  }
  for (const Host& host : hosts) wait_until([&] { return host.has_sent_all(); });
  fmt::print("ready\n");
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    fmt::print("{}\n", answer(line, shared, hosts, agents));
    std::fflush(stdout);
  }
  std::_Exit(0);  // thousands of connections end at once
}

}  // namespace landtrace::bench

int main(int argc, char** argv) {
  constexpr int kWords = 6;
  if (argc != kWords) {
    std::fputs("usage: landtrace_bench_hosts SERVERS FIRST HOSTS KEYS INTERVAL_MS\n", stderr);
    return 2;
  }
  landtrace::bench::run(argv + 1);
}
