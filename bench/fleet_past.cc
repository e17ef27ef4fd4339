// Frames of hosts that counted for an hour, one each ten seconds, as they would have come: to see what is told of a
// past that nobody waits for. bench/fleet.py starts it.
//
//   landtrace_bench_past SERVERS HOSTS ROUTES STEPS      STEPS: buckets of each route that are not empty
//
// Prints the order, how many frames it sent, and how many events the hosts counted in all.
#include <fmt/format.h>

#include <cstdlib>
#include <random>

#include "fleet/order.hpp"
#include "fleet/serving/transport.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::bench {
namespace {

using namespace fleet;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kInterval_ns = 10 * kSecond;
constexpr std::uint64_t kFrames = 360;
// What is on its way at most: a server drops nothing of that.
constexpr std::uint64_t kMostOnTheWay = 4000;
constexpr std::int64_t kPatience_ms = 60'000;

Frame begin_frame(std::uint64_t host, std::uint64_t routes, std::uint64_t steps, std::uint64_t begin_ns) {
  Frame frame;
  frame.host = fmt::format("host-{}", host);
  frame.boot = "boot";
  frame.domain = "system";
  frame.labels = host % 2 == 0 ? "role=web" : "role=db";
  frame.order = "madepast";
  frame.event = "user_events:a -> user_events:b";
  frame.generation = begin_ns + host;
  frame.table.trigger = "latency";
  frame.table.keys = {{ipc::KeyKind::kText, "route", 0, 0}, {ipc::KeyKind::kSteps, "latency_ns", 32, 0}};
  frame.table.values = {{"latency_ns"}};
  std::mt19937_64 random(host);
  for (std::uint64_t i = 0; i < routes * steps; ++i) {
    ipc::HistogramRow& row = frame.table.rows.emplace_back();
    const std::uint64_t step = 1'048'576 + (random() % 4 + 4 * (i % steps)) * 32'768;
    row.keys = {{0, fmt::format("/route/{}", i / steps), {}}, {step, "", {}}};
    row.values = {0};
  }
  return frame;
}

void count(Frame& frame, std::uint64_t time_ns, std::mt19937_64& random) {
  ++frame.sequence;
  frame.time_ns = time_ns;
  for (ipc::HistogramRow& row : frame.table.rows) {
    const std::uint64_t more = random() % 100;
    row.hits += more;
    row.values[0] += more * row.keys[1].number;
    frame.table.hits += more;
  }
}

int fail_with(const std::string& why) {
  fmt::print(stderr, "landtrace_bench_past: {}\n", why);
  return 1;
}

int run(char** words) {
  Address address;
  address.servers = words[0];
  auto transport = Transport::connect(address, "landtrace bench");
  if (!transport) return fail_with(transport.error().message);
  if (const auto there = transport->prepare(); !there) return fail_with(there.error().message);
  const auto hosts = std::strtoull(words[1], nullptr, 10);
  const auto routes = std::strtoull(words[2], nullptr, 10);
  const auto steps = std::strtoull(words[3], nullptr, 10);
  const std::uint64_t begin_ns = wall_ns() - kFrames * kInterval_ns;
  std::vector<Frame> frames;
  for (std::uint64_t i = 0; i < hosts; ++i) {
    frames.push_back(begin_frame(i, routes, steps, begin_ns));
  }
  std::mt19937_64 random(1);
  std::uint64_t sent = 0;
  for (std::uint64_t round = 1; round <= kFrames; ++round) {
    for (Frame& frame : frames) {
      count(frame, begin_ns + round * kInterval_ns - kSecond, random);
      const std::string bytes = encode(frame);
      if (natsConnection_Publish(transport->connection(), subject_of(frame).c_str(), bytes.data(),
                                 static_cast<int>(bytes.size())) != NATS_OK) {
        return fail_with("the server takes no more");
      }
      if (++sent % kMostOnTheWay == 0) natsConnection_FlushTimeout(transport->connection(), kPatience_ms);
    }
  }
  natsConnection_FlushTimeout(transport->connection(), kPatience_ms);
  std::uint64_t counted = 0;
  for (const Frame& frame : frames) counted += frame.table.hits;
  fmt::print("{} {} {}\n", frames.empty() ? "" : frames[0].order, sent, counted);
  return 0;
}

}  // namespace
}  // namespace landtrace::bench

int main(int argc, char** argv) {
  constexpr int kWords = 5;
  if (argc != kWords) {
    std::fputs("usage: landtrace_bench_past SERVERS HOSTS ROUTES STEPS\n", stderr);
    return 2;
  }
  return landtrace::bench::run(argv + 1);
}
