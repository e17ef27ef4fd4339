// Programs that emit under rules, for rules_test.cc. argv[1] names what to do.
#include <landtrace/landtrace.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace {

using landtrace::Field;
using Pair = landtrace::Event<"pair", Field<"a", std::uint64_t>, Field<"b", std::uint64_t>>;
using Stop = landtrace::Event<"stop", Field<"n", std::uint64_t>>;
using Go = landtrace::Event<"go", Field<"n", std::uint64_t>>;
using Mark = landtrace::Event<"mark", Field<"n", std::uint64_t>>;

constexpr unsigned kThreads = 8;
constexpr std::uint64_t kRounds = 500;

void say(const char* line) {
  std::puts(line);
  std::fflush(stdout);
}
void wait_for_line() {
  char line[16];
  if (std::fgets(line, sizeof line, stdin) == nullptr) std::_Exit(1);
}

// Eight threads run `body(thread, random number)` until a line comes.
template <typename Body>
void run_threads(Body body) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back([&stop, body, i] {
      std::minstd_rand random(i + 1);
      while (!stop.load(std::memory_order_relaxed)) body(i, random());
    });
  }
  say("emitting");
  wait_for_line();
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

// Half of the pairs are equal; the others are what half of a filter and half of the next would let through.
void pairs() {
  run_threads([](unsigned, std::uint64_t random) {
    const std::uint64_t a = random % 64;
    Pair::emit(a, (a + (random >> 8 & 1)) % 64);
  });
}

// Every event has its triggers.
void triggers() {
  run_threads([](unsigned thread, std::uint64_t random) {
    Stop::emit(random);
    Pair::emit(thread, random);
    Go::emit(random);
  });
}

// What one thread stopped is stopped for the other's next event; and the same with what goes on.
void handshake() {
  std::atomic<std::uint64_t> stopped = 0, seen = 0;
  std::thread other([&] {
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      while (stopped < round) std::this_thread::yield();
      Mark::emit(1);
      Go::emit(round);
      seen = round;
    }
  });
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    Mark::emit(2);
    Stop::emit(round);
    stopped = round;
    while (seen < round) std::this_thread::yield();
    Mark::emit(3);
  }
  other.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (std::strcmp(argv[1], "pairs") == 0) return pairs(), 0;
  if (std::strcmp(argv[1], "triggers") == 0) return triggers(), 0;
  if (std::strcmp(argv[1], "handshake") == 0) return handshake(), 0;
  return 2;
}
