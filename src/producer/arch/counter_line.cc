#include "arch/thread_time.hpp"

namespace landtrace::arch {

void CounterLinePainter::refresh(CounterLine& line) {
  constexpr std::uint64_t kFresh_ns = 10'000'000;
  constexpr std::uint64_t kFirstStretch_ns = 50'000;
  const std::uint64_t start_ns = system_clock_ns(CLOCK_MONOTONIC);
  if (last_ns_ != 0 && start_ns - last_ns_ < kFresh_ns) return;
  // The tightest of a few tries: the time between two readings of the counter.
  const auto read_pair = [](std::uint64_t& raw, std::uint64_t& ns) {
    std::uint64_t best_width = ~0ull;
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t before = read_counter();
      const std::uint64_t time = system_clock_ns(CLOCK_MONOTONIC);
      const std::uint64_t width = read_counter() - before;
      if (width >= best_width) continue;
      best_width = width;
      raw = before + width / 2;
      ns = time;
    }
  };
  std::uint64_t raw = 0;
  std::uint64_t ns = 0;
  if (first_ns_ == 0) {
    read_pair(first_raw_, first_ns_);
    // A first slope, good for some hundred ns in the next millisecond; the next line has a better one.
    while (system_clock_ns(CLOCK_MONOTONIC) - first_ns_ < kFirstStretch_ns) continue;
  }
  read_pair(raw, ns);
  last_ns_ = ns;
  double slope = static_cast<double>(raw - first_raw_) / static_cast<double>(ns - first_ns_);
  const std::uint32_t seq = line.seq;
  __atomic_store_n(&line.seq, seq + 1, __ATOMIC_RELAXED);
  // The odd number, then the line: pairs with the acquire fence in counter_by_line().
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&line.raw, raw, __ATOMIC_RELAXED);
  __atomic_store_n(&line.ns, ns, __ATOMIC_RELAXED);
  __atomic_store(&line.raw_per_ns, &slope, __ATOMIC_RELAXED);
  // The line, then the even number: pairs with the acquire load in counter_by_line().
  __atomic_store_n(&line.seq, seq + 2, __ATOMIC_RELEASE);
}

}  // namespace landtrace::arch
