#include "fleet/rounds.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "arch/clock.hpp"

namespace landtrace::fleet {
namespace {

void wait_until(const std::function<bool()>& is_so) {
  while (!is_so()) std::this_thread::yield();
}

TEST(RoundsTest, TheFirstComesAtOnceAndTheNextWhenItIsDue) {
  std::atomic<int> count = 0;
  std::uint64_t due_ns = 0, came_ns = 0;
  Rounds rounds;
  rounds.add([&] {
    came_ns = arch::monotonic_ns();
    if (++count >= 2) return Rounds::kNever;
    return due_ns = came_ns + 5'000'000;
  });
  wait_until([&] { return count == 2; });
  EXPECT_GE(came_ns, due_ns);
}

TEST(RoundsTest, WhoIsRungForHasARoundThatIsNotDue) {
  std::atomic<int> count = 0, others = 0;
  Rounds rounds;
  const auto member = rounds.add([&] { return ++count, Rounds::kNever; });
  rounds.add([&] { return ++others, Rounds::kNever; });
  wait_until([&] { return count == 1 && others == 1; });
  rounds.ring(member);
  wait_until([&] { return count == 2; });
  EXPECT_EQ(others, 1);
}

TEST(RoundsTest, ARingDuringARoundIsNotLost) {
  std::atomic<int> count = 0;
  std::promise<void> begun, rung;
  Rounds rounds;
  const auto member = rounds.add([&] {
    if (++count == 1) {
      begun.set_value();
      rung.get_future().wait();
    }
    return Rounds::kNever;
  });
  begun.get_future().wait();
  rounds.ring(member);
  rung.set_value();
  wait_until([&] { return count == 2; });
}

TEST(RoundsTest, WhoRingsForItselfAllTheTimeKeepsNobodyFromARound) {
  std::atomic<int> count = 0;
  std::atomic<Rounds::Member> greedy = 0;
  Rounds rounds;
  greedy = rounds.add([&] { return rounds.ring(greedy), Rounds::kNever; });
  rounds.ring(greedy);
  const auto member = rounds.add([&] { return ++count, Rounds::kNever; });
  for (int i = 1; i < 10; ++i) {
    wait_until([&] { return count == i; });
    rounds.ring(member);
  }
  wait_until([&] { return count == 10; });
}

TEST(RoundsTest, NoneIsUnderWayOrBeginsWhenItsMemberWasRemoved) {
  Rounds rounds;
  for (int i = 0; i < 100; ++i) {
    auto is_there = std::make_unique<std::atomic<bool>>(true);
    std::atomic<int> count = 0;
    const auto member = rounds.add([&count, there = is_there.get()] {
      EXPECT_TRUE(there->load());
      ++count;
      return std::uint64_t{0};
    });
    wait_until([&] { return count > 0; });
    rounds.remove(member);
    is_there->store(false);
    is_there.reset();
    rounds.ring(member);
    rounds.remove(member);
  }
}

}  // namespace
}  // namespace landtrace::fleet
