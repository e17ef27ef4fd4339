// Times of samples are the kernel's own, whatever it takes them from.
#include "perf/clocks.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "perf/kernel_clock.hpp"

namespace landtrace::perf {
namespace {

TEST(KernelClockTest, GoesOnInWhicheverThreadReadsIt) {
  const auto clock = KernelClock::open();
  if (clock == nullptr) GTEST_SKIP() << "this kernel has no perf events for us";
  const std::uint64_t first = clock->read();
  std::uint64_t elsewhere = 0;
  std::thread([&] { elsewhere = clock->read(); }).join();
  const std::uint64_t last = clock->read();
  EXPECT_LT(first, elsewhere);
  EXPECT_LT(elsewhere, last);
}

// Between two moments that it told itself.
TEST(SampleClockTest, OfTheKernelIsTheOneThatItsEventsHave) {
  const auto of_events = KernelClock::open();
  if (of_events == nullptr) GTEST_SKIP() << "this kernel has no perf events for us";
  const arch::RawClock raw = arch::best_raw_clock();
  SampleClocks clocks(raw);
  perf_event_attr attr{};
  const auto clock = clocks.find(attr);
  ASSERT_NE(clock, nullptr);
  int far = 0;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t before = of_events->read();
    const std::uint64_t now = arch::read_raw_clock(raw);
    const std::uint64_t after = of_events->read();
    clocks.sample();
    const std::uint64_t shown = clock->to_ns(now);
    if (shown + 5'000 < before || shown > after + 5'000) ++far;
  }
  EXPECT_LT(far, 10);
}

}  // namespace
}  // namespace landtrace::perf
