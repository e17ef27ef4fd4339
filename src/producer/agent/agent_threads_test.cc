#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "agent/agent.hpp"
#include "agent/maps.hpp"
#include "agent/other_threads.hpp"
#include "agent/test_places.hpp"

// A thousand functions whose first instructions are one, three and one byte long.
// clang-format off
asm(
  ".text\n\t"
  ".p2align 6\n\t"
  ".globl lt_test_thousand\n"
  "lt_test_thousand:\n\t"
  ".rept 1000\n\t"
  "pushq %rbp\n\t movq %rsp, %rbp\n\t pushq %rbx\n\t leaq 3(%rdi), %rax\n\t popq %rbx\n\t popq %rbp\n\t ret\n\t"
  ".p2align 5\n\t"
  ".endr\n");
// clang-format on
extern "C" const char lt_test_thousand[];

namespace landtrace::agent {
namespace {

// LANDTRACE_AGENT_ROUNDS=50 does all of it so many times as often.
unsigned rounds(unsigned ordinarily) {
  const char* times = std::getenv("LANDTRACE_AGENT_ROUNDS");
  return times != nullptr ? ordinarily * static_cast<unsigned>(std::atoi(times)) : ordinarily;
}

std::uint32_t wants_in_round(unsigned round) { return round % 2 != 0 ? std::uint32_t{kWantsReturn} : 0; }

// Threads that do the same until the test is over.
class Busy {
 public:
  Busy(unsigned count, std::function<void()> what) {
    for (unsigned i = 0; i < count; ++i) {
      threads_.emplace_back([this, what] {
        while (!over_) {
          for (int k = 0; k < 100; ++k) what();
          ++done_;
        }
      });
    }
  }
  ~Busy() {
    over_ = true;
    for (auto& thread : threads_) thread.join();
  }
  std::uint64_t done() const { return done_; }

 private:
  std::atomic<bool> over_ = false;
  std::atomic<std::uint64_t> done_ = 0;
  std::vector<std::thread> threads_;
};

std::atomic<std::uint64_t> wrong;

void call_all() {
  if (lt_test_add_one(1) != 2) ++wrong;
  if (lt_test_push(1) != 3) ++wrong;
  if (lt_test_crossing(1) != 3) ++wrong;
}

// What is mapped to be written and executed, as long as something is being patched and no longer.
std::string writable_code() {
  constexpr int kWritableCode = PROT_WRITE | PROT_EXEC;
  std::string found;
  for (const Mapped& mapped : read_maps()) {
    if ((mapped.protection & kWritableCode) == kWritableCode) found += mapped.path + '\n';
  }
  return found;
}

class AgentThreadsTest : public testing::Test {
 protected:
  AgentThreadsTest() {
    use_test_handlers();
    wrong = 0;
  }
  // On a busy machine threads may not come to their stop in time: then it is tried again, as the agent's thread does.
  Outcome patched(const Wanted& one) {
    Outcome outcome = apply(agent, one);
    for (unsigned i = 0; i < 100 && outcome.state != PlaceState::kPatched && outcome.reason == Reason::kBusy; ++i) {
      agent.tend();
      outcome = agent.outcome(one.number);
    }
    return outcome;
  }
  Agent agent{Agent::OwnObject::kPatch};
};

TEST_F(AgentThreadsTest, HitsOfAllThreadsAreCounted) {
  ASSERT_EQ(apply(agent, wanted(add_one_place(), 1, kWantsEntry | kWantsReturn)).state, PlaceState::kPatched);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (unsigned k = 0; k < 1'000'000; ++k) lt_test_add_one(k);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(test_hits[1].entries, 4'000'000u);
  EXPECT_EQ(test_hits[1].returns, 4'000'000u);
}

TEST_F(AgentThreadsTest, OneStorePatchesWhileThreadsRun) {
  const TestPlace place = add_one_place();
  const Busy busy(4, call_all);
  for (unsigned i = 0; i < rounds(2000); ++i) {
    ASSERT_EQ(patched(wanted(place, 1, kWantsEntry | wants_in_round(i))).state, PlaceState::kPatched);
    drop(agent, {1});
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(test_hits[1].entries, 0u);
  EXPECT_EQ(agent.counters().stops, 0u);
}

TEST_F(AgentThreadsTest, ThreadsAreOutOfTheBytesThatChange) {
  const TestPlace place = push_place();
  const TestPlace crossing_words = crossing_place();
  const Busy busy(4, call_all);
  for (unsigned i = 0; i < rounds(50); ++i) {
    const std::uint32_t wants = kWantsEntry | wants_in_round(i);
    const Outcome outcome = patched(wanted(place, 1, wants));
    ASSERT_EQ(outcome.state, PlaceState::kPatched) << text_of(outcome.reason);
    const Outcome crossing = patched(wanted(crossing_words, 2, wants));
    ASSERT_EQ(crossing.state, PlaceState::kPatched) << text_of(crossing.reason);
    const std::uint64_t before = test_hits[1].entries;
    for (unsigned k = 0; k < 1000 && test_hits[1].entries == before; ++k) std::this_thread::yield();
    drop(agent, {1, 2});
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(test_hits[1].entries, 0u);
  EXPECT_GT(test_hits[2].entries, 0u);
  EXPECT_GT(test_hits[1].returns, 0u);
}

TEST_F(AgentThreadsTest, CallsThatWaitAreNotInterrupted) {
  std::atomic<bool> over = false;
  std::atomic<unsigned> ended_early = 0;
  std::atomic<unsigned> timed_out = 0;
  std::vector<std::thread> threads;
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  for (unsigned i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const int poll = ::epoll_create1(0);
      while (!over) {
        epoll_event event;
        // Short ones end while threads are being stopped; the long ones do not.
        const int got = ::epoll_wait(poll, &event, 1, i % 2 == 0 ? 1 : 50);
        if (got < 0) ++ended_early;
        if (got == 0) ++timed_out;
        call_all();
      }
      ::close(poll);
    });
  }
  threads.emplace_back([&] {
    char byte = 0;
    if (::read(pipes[0], &byte, 1) != 1) ++ended_early;
  });
  for (unsigned i = 0; i < rounds(50); ++i) {
    const Outcome outcome = patched(wanted(push_place(), 1));
    ASSERT_EQ(outcome.state, PlaceState::kPatched) << text_of(outcome.reason);
    ASSERT_EQ(writable_code(), "");
    drop(agent, {1});
  }
  over = true;
  ASSERT_EQ(::write(pipes[1], "", 1), 1);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(ended_early, 0u);
  EXPECT_GT(timed_out, 0u);
  EXPECT_EQ(wrong, 0u);
  ::close(pipes[0]);
  ::close(pipes[1]);
}

std::atomic<std::uint64_t> signals;
void count_signal(int) {
  ++signals;
  call_all();
}

TEST_F(AgentThreadsTest, SignalsArriveWhileThreadsAreStopped) {
  signals = 0;
  struct sigaction action = {};
  action.sa_handler = count_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGPROF, &action, nullptr);
  {
    const Busy busy(3, call_all);
    const Busy sleepers(2, [] { ::usleep(10); });
    const itimerval often = {{0, 500}, {0, 500}};
    ::setitimer(ITIMER_PROF, &often, nullptr);
    for (unsigned i = 0; i < rounds(50); ++i) {
      ASSERT_EQ(patched(wanted(push_place(), 1)).state, PlaceState::kPatched);
      drop(agent, {1});
    }
    const itimerval never = {};
    ::setitimer(ITIMER_PROF, &never, nullptr);
  }
  std::signal(SIGPROF, SIG_IGN);
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(signals, 0u);
}

TEST_F(AgentThreadsTest, ChildrenThatAreForkedMeanwhileWork) {
  std::atomic<unsigned> children = 0;
  std::atomic<unsigned> bad = 0;
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  // Where it comes back to, a child comes by, too.
  std::thread reader([&] {
    char byte = 0;
    if (::read(pipes[0], &byte, 1) != 1) ++bad;
  });
  {
    const Busy busy(2, call_all);
    const Busy starters(1, [] { std::thread([] { call_all(); }).join(); });
    std::atomic<bool> over = false;
    std::thread forks([&] {
      while (!over) {
        const pid_t child = ::fork();
        if (child == 0) {
          ::alarm(120);
          call_all();
          ::usleep(100);
          char byte = 0;
          if (::read(-1, &byte, 1) != -1) ::_exit(2);
          ::_exit(wrong == 0 ? 0 : 1);
        }
        int status = -1;
        if (::waitpid(child, &status, 0) != child || status != 0) ++bad;
        ++children;
      }
    });
    for (unsigned i = 0; i < rounds(50); ++i) {
      const Outcome outcome = patched(wanted(push_place(), 1));
      EXPECT_EQ(outcome.state, PlaceState::kPatched) << text_of(outcome.reason);
      drop(agent, {1});
    }
    over = true;
    forks.join();
  }
  ASSERT_EQ(::write(pipes[1], "", 1), 1);
  reader.join();
  ::close(pipes[0]);
  ::close(pipes[1]);
  EXPECT_GT(children, 0u);
  EXPECT_EQ(bad, 0u);
  EXPECT_EQ(wrong, 0u);
}

constexpr unsigned kThousand = 1000;

class Thousand {
 public:
  Thousand() {
    places_.reserve(kThousand);
    for (unsigned i = 0; i < kThousand; ++i)
      places_.push_back(with_push_and_move(test_place(lt_test_thousand + std::size_t{i} * 32, Way::kQuiet, 5)));
    const Wanted first = wanted(places_[0], 0);
    for (unsigned i = 0; i < kThousand; ++i) {
      all.push_back(first);
      all.back().offset += std::size_t{i} * 32;
      all.back().recipe = &places_[i].recipe;
      all.back().number = i;
      numbers.push_back(i);
    }
  }
  static void call() {
    for (std::size_t i = 0; i < kThousand; ++i) {
      const auto address = reinterpret_cast<std::uintptr_t>(lt_test_thousand + i * 32);
      const auto function = reinterpret_cast<std::uint64_t (*)(std::uint64_t)>(address);
      wrong += function(1) == 4 ? 0 : 1;
    }
  }

  std::vector<Wanted> all;
  std::vector<std::uint32_t> numbers;

 private:
  std::vector<TestPlace> places_;
};

bool is_patched(const Agent& agent, std::uint32_t number) {
  return agent.outcome(number).state == PlaceState::kPatched;
}

// On a busy machine not all of them at once.
void patch_all(Agent& agent, const Thousand& thousand) {
  std::vector<Outcome> outcomes(kThousand);
  agent.apply(thousand.all, outcomes);
  const auto is_done = [&](std::uint32_t number) { return is_patched(agent, number); };
  for (unsigned i = 0; i < 100 && !std::all_of(thousand.numbers.begin(), thousand.numbers.end(), is_done); ++i) {
    agent.tend();
  }
  for (const std::uint32_t number : thousand.numbers)
    ASSERT_TRUE(is_patched(agent, number)) << text_of(agent.outcome(number).reason);
}

// LANDTRACE_AGENT_ROUNDS=500: a million times on and off.
TEST_F(AgentThreadsTest, HotFunctionsGoOnAndOffUnderFourThreads) {
  Thousand thousand;
  {
    const Busy busy(4, Thousand::call);
    while (busy.done() < 1) std::this_thread::yield();
    for (unsigned i = 0; i < rounds(2); ++i) {
      for (Wanted& one : thousand.all) one.wants = kWantsEntry | wants_in_round(i);
      ASSERT_NO_FATAL_FAILURE(patch_all(agent, thousand));
      const std::uint64_t before = test_hits[999].entries;
      while (test_hits[999].entries == before) std::this_thread::yield();
      agent.drop(thousand.numbers);
      agent.tend();
    }
  }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(agent.missed(999), 0u);
}

TEST_F(AgentThreadsTest, AThousandPlacesArePatchedAtOnce) {
  Thousand thousand;
  const Busy busy(8, Thousand::call);
  while (busy.done() < 8) std::this_thread::yield();
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_NO_FATAL_FAILURE(patch_all(agent, thousand));
  const auto end = std::chrono::steady_clock::now();
  const std::uint64_t before = test_hits[999].entries;
  while (test_hits[999].entries < before + 10) std::this_thread::yield();
  RecordProperty("apply_us",
                 static_cast<int>(std::chrono::duration_cast<std::chrono::microseconds>(end - begin).count()));
  RecordProperty("stopped_us", static_cast<int>(agent.counters().longest_stop_ns / 1000));
  agent.drop(thousand.numbers);
  EXPECT_EQ(wrong, 0u);
}

// Whoever stops threads for the agent is a process of its own: it must end even where nobody waits for it any more, as
// another thread has exec'ed in the middle, or the program was killed.
TEST_F(AgentThreadsTest, NobodyStaysBehindWhereAProgramExecsOrIsKilled) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (unsigned i = 0; i < rounds(60); ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(120);
      Agent own(Agent::OwnObject::kPatch);
      const TestPlace place = push_place();
      std::atomic<bool> patched = false;
      std::thread([&] {
        for (;;) {
          apply(own, wanted(place, 1));
          patched = true;
          drop(own, {1});
        }
      }).detach();
      while (!patched) std::this_thread::yield();
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(i * 97 % 1500);
      while (std::chrono::steady_clock::now() < until) lt_test_push(1);
      if (i % 2 != 0) ::kill(::getpid(), SIGKILL);
      ::execl("/bin/true", "true", nullptr);
      ::_exit(1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, i % 2 != 0 ? SIGKILL : 0);
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  pid_t left = 0;
  while ((left = ::waitpid(-1, nullptr, __WALL | WNOHANG)) >= 0) {
    ASSERT_LT(std::chrono::steady_clock::now(), until) << "somebody is still there";
    if (left == 0) ::usleep(1000);
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

// A process of its own patches and unpatches while its threads run: it must come to its end.
TEST_F(AgentThreadsTest, AProgramThatIsPatchedAllTheTimeSurvives) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(120);
    {
      Agent own(Agent::OwnObject::kPatch);
      const TestPlace places[] = {push_place(), add_one_place(), crossing_place()};
      const Busy busy(4, call_all);
      for (unsigned i = 0; i < rounds(50); ++i) {
        apply(own, wanted(places[0], 1, kWantsEntry | kWantsReturn));
        apply(own, wanted(places[1], 2, kWantsEntry | kWantsReturn));
        apply(own, wanted(places[2], 3));
        drop(own, {1, 2, 3});
      }
    }
    ::_exit(wrong == 0 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

// Where the system refuses the helper as Yama does, and says whom the program names: a filter of the calling thread.
class NamesSeen {
 public:
  // In the thread that is to be seen.
  void begin() {
    constexpr auto kData = BPF_LD | BPF_W | BPF_ABS;
    constexpr auto kIs = BPF_JMP | BPF_JEQ | BPF_K;
    constexpr auto kAnswer = BPF_RET | BPF_K;
    sock_filter code[] = {{kData, 0, 0, offsetof(seccomp_data, nr)},   {kIs, 0, 1, SYS_ptrace},
                          {kAnswer, 0, 0, SECCOMP_RET_ERRNO | EPERM},  {kIs, 0, 3, SYS_prctl},
                          {kData, 0, 0, offsetof(seccomp_data, args)}, {kIs, 0, 1, PR_SET_PTRACER},
                          {kAnswer, 0, 0, SECCOMP_RET_USER_NOTIF},     {kAnswer, 0, 0, SECCOMP_RET_ALLOW}};
    const sock_fprog filter = {std::size(code), code};
    ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    fd_ = static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter));
    ASSERT_GE(fd_, 0);
  }
  // In another one: the next name, which the system takes.
  [[nodiscard]] std::uint64_t next() const {
    seccomp_notif seen{};
    EXPECT_EQ(::ioctl(fd_, SECCOMP_IOCTL_NOTIF_RECV, &seen), 0);
    seccomp_notif_resp answer{};
    answer.id = seen.id;
    EXPECT_EQ(::ioctl(fd_, SECCOMP_IOCTL_NOTIF_SEND, &answer), 0);
    return seen.data.args[1];
  }
  ~NamesSeen() { ::close(fd_); }

 private:
  int fd_ = -1;
};

TEST_F(AgentThreadsTest, WhomTheProgramHasNamedIsNamedAgainAfterTheHelper) {
  static constexpr unsigned long kNamed = 4711;
  for (const bool is_known : {true, false}) {
    set_usual_tracer(is_known ? +[] { return kNamed; } : nullptr);
    NamesSeen names;
    std::promise<void> filtered;
    std::thread writer([&] {
      names.begin();
      filtered.set_value();
      const StopReport report = write_with_others_stopped({}, read_maps(), 1'000'000'000);
      EXPECT_EQ(report.result, StopResult::kNotPermitted);
    });
    filtered.get_future().wait();
    const std::uint64_t helper = names.next();
    EXPECT_NE(helper, 0u);
    EXPECT_NE(helper, kNamed);
    EXPECT_EQ(names.next(), is_known ? kNamed : 0);
    writer.join();
  }
  set_usual_tracer(nullptr);
}

}  // namespace
}  // namespace landtrace::agent
