// Two threads on two CPUs against one. On a shared machine a stretch in which the other CPU was not ours says
// nothing, so a repetition is many short windows, one thread and two in turn, and what counts is the best
// window of each. Windows are shorter than a turn of the scheduler. Throughput is over the time from the
// first thread's start to the last one's end.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <barrier>
#include <thread>

#include "arch/clock.hpp"
#include "benchmarks.hpp"

namespace landtrace::bench {

inline constexpr std::uint64_t kWindow_ns = 2'000'000;
inline constexpr std::uint64_t kBlock = 1000;

inline std::vector<int> our_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

inline void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);
}

struct Window {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t counted = 0;
  std::uint64_t events = 0;  // and those before the start

  [[nodiscard]] double per_second() const {
    return static_cast<double>(counted) * 1e9 / static_cast<double>(end - begin);
  }
};

// Does `block` again and again until the window ends.
template <typename Block>
Window run_thread(int cpu, std::barrier<>& start, Block block) {
  pin(cpu);
  block();  // the thread finds its place in the domain
  start.arrive_and_wait();
  Window window;
  window.begin = window.end = arch::monotonic_ns();
  for (; window.end - window.begin < kWindow_ns; window.end = arch::monotonic_ns()) {
    block();
    window.counted += kBlock;
  }
  window.events = window.counted + kBlock;
  return window;
}

template <typename Block>
Window run_window(const std::vector<int>& cpus, Block block) {
  std::barrier start(static_cast<std::ptrdiff_t>(cpus.size()));
  std::vector<Window> windows(cpus.size());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < cpus.size(); ++t) {
    threads.emplace_back([&, t] { windows[t] = run_thread(cpus[t], start, block); });
  }
  for (std::thread& thread : threads) thread.join();
  Window all = windows.front();
  for (std::size_t t = 1; t < windows.size(); ++t) {
    all.begin = std::min(all.begin, windows[t].begin);
    all.end = std::max(all.end, windows[t].end);
    all.counted += windows[t].counted;
    all.events += windows[t].events;
  }
  return all;
}

// The number of events done.
template <typename Block>
std::uint64_t compare_one_with_two(benchmark::State& state, int rounds, Block block) {
  const std::vector<int> cpus = our_cpus();
  double one = 0, two = 0;
  std::uint64_t events = 0;
  for (auto _ : state) {
    for (int round = 0; round < rounds; ++round) {
      const Window alone = run_window({cpus[static_cast<std::size_t>(round % 2)]}, block);
      const Window both = run_window({cpus[0], cpus[1]}, block);
      one = std::max(one, alone.per_second());
      two = std::max(two, both.per_second());
      events += alone.events + both.events;
    }
  }
  state.counters[kValue] = two / one;
  state.counters["one"] = one;
  state.counters["two"] = two;
  return events;
}

}  // namespace landtrace::bench
