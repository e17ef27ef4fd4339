#include "arch/thread_time.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include <csignal>
#include <thread>

#include "arch/clock.hpp"

namespace landtrace::arch {
namespace {

CounterLine drawn_line() {
  CounterLine line{};
  CounterLinePainter().refresh(line);
  return line;
}

class ThreadTimeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (best_raw_clock() != RawClock::kTsc) GTEST_SKIP() << "SKIPPED: no time stamp counter to read";
    line_ = drawn_line();
    set_counter_line(&line_);
  }
  void TearDown() override { set_counter_line(nullptr); }

  // How far the counter that a thread with `source` reads is from the true one, in ns: after it minus before it.
  std::pair<std::int64_t, std::int64_t> distances(TimeSource source) const {
    const std::uint64_t before = read_counter();
    time_source = source;
    const std::uint64_t read = read_counter();
    time_source = TimeSource::kCounter;
    const std::uint64_t after = read_counter();
    const auto in_ns = [this](std::uint64_t later, std::uint64_t earlier) {
      return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(later - earlier)) /
                                       line_.raw_per_ns);
    };
    return {in_ns(read, before), in_ns(after, read)};
  }

  CounterLine line_{};
};

TEST_F(ThreadTimeTest, AThreadWithoutTheCounterKnowsItsValueByTheLine) {
  const auto [since, until] = distances(TimeSource::kCalls);
  constexpr std::int64_t kTolerance_ns = 1'000'000;
  EXPECT_GT(since, -kTolerance_ns);
  EXPECT_GT(until, -kTolerance_ns);
}

TEST_F(ThreadTimeTest, AThreadWithoutCallsKnowsItToSomeTicks) {
  const auto [since, until] = distances(TimeSource::kMemory);
  constexpr std::int64_t kTolerance_ns = 100'000'000;
  EXPECT_GE(since, -kTolerance_ns);
  EXPECT_GE(until, -kTolerance_ns);
}

TEST_F(ThreadTimeTest, WithoutALineItsTimeIsMonotonic) {
  set_counter_line(nullptr);
  time_source = TimeSource::kCalls;
  const std::uint64_t read = read_counter();
  time_source = TimeSource::kCounter;
  EXPECT_LE(read, monotonic_ns());
}

TEST_F(ThreadTimeTest, OfALineThatAnOwnerDiedInNothingIsBelieved) {
  line_.seq = 1;
  time_source = TimeSource::kCalls;
  const std::uint64_t read = read_counter();
  time_source = TimeSource::kCounter;
  EXPECT_LE(read, monotonic_ns());
}

TEST_F(ThreadTimeTest, ALineIsDrawnAnewOnlyWhereItIsOld) {
  CounterLinePainter painter;
  CounterLine line{};
  painter.refresh(line);
  const std::uint32_t seq = line.seq;
  painter.refresh(line);
  EXPECT_EQ(line.seq, seq);
  EXPECT_EQ(seq % 2, 0u);
}

#if defined(__x86_64__)

int faults = 0;
int mended = 0;
// The first fault lasts until the system has told the vDSO another time.
bool has_tick_in_fault = false;

void wait_for_tick() {
  for (const std::uint64_t before = tick_ns(); tick_ns() == before;) continue;
}

void on_fault(int, siginfo_t*, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto at = [registers](int index) { return reinterpret_cast<std::int64_t*>(&registers[index]); };
  if (++faults == 1 && has_tick_in_fault) wait_for_tick();
  if (mend_counter_fault({at(REG_RIP), at(REG_RAX), at(REG_RDX)})) {
    ++mended;
  } else {
    registers[REG_RIP] += 2;  // the test's own rdtsc
  }
}

// In a thread of its own, from which the counter is taken without a word.
template <typename Function>
void without_counter_in_thread(const Function& function) {
  faults = mended = 0;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  struct sigaction before {};
  ::sigaction(SIGSEGV, &action, &before);
  std::thread([&] {
    ASSERT_EQ(::prctl(PR_SET_TSC, PR_TSC_SIGSEGV), 0);
    function();
  }).join();
  ::sigaction(SIGSEGV, &before, nullptr);
}

TEST_F(ThreadTimeTest, AFaultAtTheCounterIsMendedAndHappensOnce) {
  const std::uint64_t before = read_counter();
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  without_counter_in_thread([&] {
    first = read_counter();
    second = read_counter();
    EXPECT_FALSE(may_call());
  });
  EXPECT_EQ(faults, 1);
  EXPECT_EQ(mended, 1);
  EXPECT_GE(second, first);
  EXPECT_GE(first, before - before / 1000);
}

// The vDSO reads the counter once more where a tick comes meanwhile.
TEST_F(ThreadTimeTest, FaultsInTheVdsoAreMendedAndItsTimeIsRight) {
  for (const bool has_tick : {false, true}) {
    has_tick_in_fault = has_tick;
    const std::uint64_t before = monotonic_ns();
    std::uint64_t read = 0;
    without_counter_in_thread([&] { read = monotonic_ns(); });
    EXPECT_GE(mended, has_tick ? 2 : 1);
    EXPECT_EQ(mended, faults);
    // To some ticks, which may be late.
    constexpr std::uint64_t kTolerance_ns = 100'000'000;
    EXPECT_GE(read + kTolerance_ns, before);
    EXPECT_LE(read, monotonic_ns() + kTolerance_ns);
  }
  has_tick_in_fault = false;
}

TEST_F(ThreadTimeTest, AFaultAtAnotherReadOfTheCounterIsTheProgramsOwn) {
  without_counter_in_thread([&] {
    asm volatile("rdtsc" ::: "rax", "rdx");
    EXPECT_TRUE(may_call());
  });
  EXPECT_EQ(faults, 1);
  EXPECT_EQ(mended, 0);
}

#elif defined(__aarch64__)

extern "C" void landtrace_counter_instruction(void);

// As the handler would say it, without a kernel that makes such faults.
TEST(CounterFaultTest, AReadIsMendedAndGoesOnBehindIt) {
  std::thread([] {
    const auto read = reinterpret_cast<std::int64_t>(&landtrace_counter_instruction);
    std::int64_t pc = read;
    std::int64_t registers[31] = {};
    EXPECT_TRUE(mend_counter_fault({&pc, registers, nullptr}));
    EXPECT_EQ(pc, read + 4);
    EXPECT_NE(registers[0], 0);
    EXPECT_FALSE(may_call());
    EXPECT_FALSE(mend_counter_fault({&pc, registers, nullptr})) << "the instruction behind it is none of ours";
  }).join();
}

#endif

}  // namespace
}  // namespace landtrace::arch
