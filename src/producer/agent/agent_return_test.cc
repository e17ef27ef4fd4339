#include <cxxabi.h>
#include <execinfo.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <coroutine>
#include <csetjmp>
#include <csignal>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/agent.hpp"
#include "agent/test_places.hpp"
#include "base/test_memory_child.hpp"
#include "unwind/capture.hpp"

namespace landtrace::agent {
namespace {

constexpr std::uint32_t kBoth = kWantsEntry | kWantsReturn;

class AgentReturnTest : public testing::Test {
 protected:
  AgentReturnTest() {
    use_test_handlers();
    free_abandoned_slots();
    before = slots_in_use();
  }
  std::uint32_t before = 0;
  Agent agent{Agent::OwnObject::kPatch};
};

TEST_F(AgentReturnTest, AReturnIsHandedOnWithItsResultAndWhatTheEntryLeft) {
  ASSERT_EQ(apply(agent, wanted(add_one_place(), 1, kBoth)).state, PlaceState::kPatched);
  EXPECT_EQ(lt_test_add_one(41), 42u);
  EXPECT_EQ(test_hits[1].entries, 1u);
  EXPECT_EQ(test_hits[1].returns, 1u);
  EXPECT_EQ(test_hits[1].leave.value[kRax], 42u);
  EXPECT_EQ(test_hits[1].entry_data, 41u);
  EXPECT_EQ(slots_in_use(), before);
}

TEST_F(AgentReturnTest, TheAddressToWhichItReturnsIsTheCallers) {
  apply(agent, wanted(recurse_place(), 1, kBoth));
  EXPECT_EQ(lt_test_recurse(1), 1u);
  const auto function = reinterpret_cast<std::uint64_t>(&lt_test_recurse);
  // The outer one returned last; the inner one into the outer one.
  EXPECT_FALSE(test_hits[1].leave.value[kRip] - function < 64);
  EXPECT_FALSE(return_stubs().holds(test_hits[1].leave.value[kRip]));
}

TEST_F(AgentReturnTest, VectorRegistersAreKept) {
  apply(agent, wanted(doubles_place(), 1, kBoth));
  const LtTestPair pair = lt_test_doubles(3.5, 1.25);
  EXPECT_EQ(pair.a, 4.75);
  EXPECT_EQ(pair.b, 2.25);
  EXPECT_EQ(test_hits[1].returns, 1u);
}

TEST_F(AgentReturnTest, RecursionReturnsAsOftenAsItEnters) {
  apply(agent, wanted(recurse_place(), 1, kBoth));
  EXPECT_EQ(lt_test_recurse(1000), 1000u);
  EXPECT_EQ(test_hits[1].entries, 1001u);
  EXPECT_EQ(test_hits[1].returns, 1001u);
  EXPECT_EQ(slots_in_use(), before);
}

TEST_F(AgentReturnTest, DeeperThanThereAreSlotsReturnsAreMissedAndCounted) {
  apply(agent, wanted(recurse_place(), 1, kBoth));
  constexpr std::uint64_t kDepth = 2 * kSlots;
  EXPECT_EQ(lt_test_recurse(kDepth), kDepth);
  EXPECT_EQ(test_hits[1].entries, kDepth + 1);
  EXPECT_EQ(test_hits[1].returns + agent.missed(1), kDepth + 1);
  EXPECT_GT(test_hits[1].returns, kSlots / 2);
  EXPECT_EQ(slots_in_use(), before);
}

TEST_F(AgentReturnTest, OtherThreadsHaveRoomAgainWhenDeepCallsHaveReturned) {
  apply(agent, wanted(recurse_place(), 1, kBoth));
  lt_test_recurse(2 * kSlots);
  const std::uint64_t missed = agent.missed(1);
  std::thread([] { lt_test_recurse(100); }).join();
  EXPECT_EQ(agent.missed(1), missed);
  lt_test_recurse(100);
  EXPECT_EQ(agent.missed(1), missed);
  EXPECT_EQ(slots_in_use(), before);
}

// The thread that has forked has another id in the child, and others come that must not take its slots.
TEST_F(AgentReturnTest, ThreadsOfAChildHaveTheirSlotsForThemselves) {
  apply(agent, wanted(recurse_place(), 1, kBoth));
  EXPECT_EQ(lt_test_recurse(3), 3u);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    agent.after_fork();
    std::atomic<unsigned> wrong = 0;
    std::atomic<std::uint64_t> turns = 0;
    const auto work = [&] {
      for (unsigned i = 0; i < 20'000; ++i, ++turns) wrong += lt_test_recurse(i % 10) == i % 10 ? 0 : 1;
    };
    agent.tend();
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 3; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    ::_exit(wrong == 0 && agent.missed(1) == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// What it took would be kept in its parent's thread, under its own number.
TEST_F(AgentReturnTest, AVforkChildTakesNoSlotsForItsParentsThread) {
  apply(agent, wanted(add_one_place(), 1, kBoth));
  std::thread([&] {
    EXPECT_TRUE(run_in_memory_child([] { return lt_test_add_one(1) == 2; }));
    EXPECT_EQ(test_hits[1].entries, 1u);
    EXPECT_EQ(test_hits[1].returns, 0u);
    EXPECT_EQ(agent.missed(1), 1u);
    EXPECT_EQ(lt_test_add_one(1), 2u);
    EXPECT_EQ(test_hits[1].returns, 1u);
    // The thread has slots of its own by now, and is suspended.
    EXPECT_TRUE(run_in_memory_child([] { return lt_test_add_one(1) == 2; }));
    EXPECT_EQ(test_hits[1].returns, 2u);
    EXPECT_EQ(agent.missed(1), 1u);
  }).join();
  EXPECT_EQ(slots_in_use(), before);
}

// It would end with the first one.
TEST_F(AgentReturnTest, AThreadThatMayMakeNoCallsMissesReturnsUnlessItHasHadOne) {
  apply(agent, wanted(add_one_place(), 1, kBoth));
  std::thread([&] {
    make_no_calls(true);
    EXPECT_EQ(lt_test_add_one(1), 2u);
    EXPECT_EQ(test_hits[1].entries, 1u);
    EXPECT_EQ(test_hits[1].returns, 0u);
    make_no_calls(false);
    EXPECT_EQ(lt_test_add_one(1), 2u);
    make_no_calls(true);
    EXPECT_EQ(lt_test_add_one(1), 2u);
    EXPECT_EQ(test_hits[1].returns, 2u);
  }).join();
  EXPECT_EQ(agent.missed(1), 1u);
}

// Past the handlers, and its own vfork child is the first to come by.
TEST_F(AgentReturnTest, AChildIsNotTakenForItsVforkChildOnceThatIsGone) {
  apply(agent, wanted(add_one_place(), 1, kBoth));
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    ::alarm(60);
    bool has_returned = false;
    std::thread([&] {
      if (!run_in_memory_child([] { return lt_test_add_one(1) == 2; })) ::_exit(2);
      const std::uint64_t had = test_hits[1].returns;
      std::thread([&] { has_returned = lt_test_add_one(1) == 2 && test_hits[1].returns == had + 1; }).join();
    }).join();
    ::_exit(has_returned ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(AgentReturnTest, ALimitOfCallsInProgressIsKept) {
  apply(agent, wanted(recurse_place(), 1, kBoth, 10));
  EXPECT_EQ(lt_test_recurse(99), 99u);
  EXPECT_EQ(test_hits[1].entries, 100u);
  EXPECT_EQ(test_hits[1].returns, 10u);
  EXPECT_EQ(agent.missed(1), 90u);
  EXPECT_EQ(test_hits[1].missed_returns, 90u);
  EXPECT_EQ(test_hits[1].missed_entries, 0u) << "these were handed on";
  EXPECT_EQ(lt_test_recurse(9), 9u);
  EXPECT_EQ(test_hits[1].returns, 20u);
}

TEST_F(AgentReturnTest, TailCallsReturnThroughBothStubs) {
  apply(agent, wanted(tail_call_place(), 1, kBoth));
  apply(agent, wanted(call_place(), 2, kBoth));
  int called = 0;
  lt_test_tail_call([](void* count) { ++*static_cast<int*>(count); }, &called);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(test_hits[1].returns, 1u);
  EXPECT_EQ(test_hits[2].returns, 1u);
  EXPECT_EQ(slots_in_use(), before);
}

TEST_F(AgentReturnTest, AFunctionThatTailCallsItselfReturnsThroughAllStubs) {
  apply(agent, wanted(tail_recurse_place(), 1, kBoth));
  EXPECT_EQ(lt_test_tail_recurse(100), 7u);
  EXPECT_EQ(test_hits[1].entries, 101u);
  EXPECT_EQ(test_hits[1].returns, 101u);
}

// Exceptions
// ---------------------------------------------------------------------------------------------------------

void throw_text(void* text) { throw std::runtime_error(static_cast<const char*>(text)); }

TEST_F(AgentReturnTest, ExceptionsPass) {
  apply(agent, wanted(call_place(), 1, kBoth));
  char text[] = "through a probe";
  try {
    lt_test_call(throw_text, text);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), text);
  }
  EXPECT_EQ(test_hits[1].entries, 1u);
  EXPECT_EQ(test_hits[1].returns, 0u);
}

TEST_F(AgentReturnTest, ExceptionsPassTailCalls) {
  apply(agent, wanted(call_place(), 1, kBoth));
  apply(agent, wanted(tail_call_place(), 2, kBoth));
  char text[] = "through two probes at one place of the stack";
  EXPECT_THROW(lt_test_tail_call(throw_text, text), std::runtime_error);
  for (int i = 0; i < 100; ++i) EXPECT_THROW(lt_test_tail_call(throw_text, text), std::runtime_error);
}

struct Nested {
  int depth;
  int caught = 0;
  int destroyed = 0;
};
void nest(void* argument) {
  auto& nested = *static_cast<Nested*>(argument);
  struct OnExit {
    int* count;
    ~OnExit() { ++*count; }
  } on_exit{&nested.destroyed};
  if (nested.depth-- == 0) throw std::logic_error("bottom");
  if (nested.depth % 2 != 0) {
    lt_test_call(nest, argument);
  } else {
    try {
      lt_test_tail_call(nest, argument);
    } catch (const std::logic_error&) {
      ++nested.caught;
      throw;
    }
  }
}

TEST_F(AgentReturnTest, ExceptionsAreCaughtAndThrownAgainAtManyLevels) {
  apply(agent, wanted(call_place(), 1, kBoth));
  apply(agent, wanted(tail_call_place(), 2, kBoth));
  for (int round = 0; round < 50; ++round) {
    Nested nested{20};
    EXPECT_THROW(lt_test_call(nest, &nested), std::logic_error);
    EXPECT_EQ(nested.caught, 10);
    EXPECT_EQ(nested.destroyed, 21);
  }
}

TEST_F(AgentReturnTest, SlotsThatExceptionsLeaveAreFoundAgain) {
  apply(agent, wanted(call_place(), 1, kBoth));
  char text[] = "";
  for (std::uint32_t i = 0; i < 3 * kSlots; ++i) EXPECT_THROW(lt_test_call(throw_text, text), std::runtime_error);
  EXPECT_EQ(test_hits[1].entries, 3 * kSlots);
  EXPECT_EQ(agent.missed(1), 0u);
}

// Backtraces
// ---------------------------------------------------------------------------------------------------------

struct Trace {
  std::vector<void*> frames = std::vector<void*>(64);
  std::vector<std::uint64_t> own = std::vector<std::uint64_t>(64);
  bool deeper = false;
};
[[gnu::noinline]] void take_trace(void* argument) {
  auto& trace = *static_cast<Trace*>(argument);
  if (!trace.deeper) {
    trace.deeper = true;
    lt_test_tail_call(take_trace, argument);
    asm volatile("");
    return;
  }
  trace.frames.resize(static_cast<std::size_t>(::backtrace(trace.frames.data(), 64)));
  trace.own.resize(unwind::capture(trace.own.data(), 64, {}));
}
template <typename T>
std::vector<std::uint64_t> without_stubs(const std::vector<T>& frames) {
  std::vector<std::uint64_t> rest;
  for (const T frame : frames) {
    if (!return_stubs().holds((std::uint64_t)frame))
      rest.push_back((std::uint64_t)frame);  // NOLINT: a pointer or a number
  }
  return rest;
}

TEST_F(AgentReturnTest, BacktracesHaveTheSameCallers) {
  Trace traces[2];
  for (unsigned i = 0; i < 2; ++i) {
    if (i == 1) {
      apply(agent, wanted(call_place(), 1, kBoth));
      apply(agent, wanted(tail_call_place(), 2, kBoth));
    }
    lt_test_call(take_trace, &traces[i]);
  }
  EXPECT_GT(traces[0].frames.size(), 6u);
  EXPECT_EQ(without_stubs(traces[1].frames), without_stubs(traces[0].frames));
  EXPECT_EQ(without_stubs(traces[1].own), without_stubs(traces[0].own));
  EXPECT_EQ(traces[1].frames.size(), traces[0].frames.size() + 3) << "the stubs' own frames are there";
}

std::vector<std::uint64_t> frames_in_handler;
void take_frames() {
  frames_in_handler.resize(64);
  frames_in_handler.resize(unwind::capture(frames_in_handler.data(), 64, {}));
}
[[gnu::noinline]] std::uint64_t call_in_frame() {
  const std::uint64_t result = lt_test_add_one(1);
  asm volatile("");
  return result;
}

TEST_F(AgentReturnTest, TheHandlersOwnStackLeadsToTheCaller) {
  apply(agent, wanted(add_one_place(), 1, kBoth));
  test_hits[1].within = take_frames;
  call_in_frame();
  const auto in_frame = [](std::uint64_t pc) { return pc - reinterpret_cast<std::uint64_t>(&call_in_frame) < 64; };
  EXPECT_TRUE(std::any_of(frames_in_handler.begin(), frames_in_handler.end(), in_frame));
  EXPECT_GT(frames_in_handler.size(), 8u);
}

// Ways to leave a function without returning
// -------------------------------------------------------------------------

std::jmp_buf back;
void jump_back(void*) { std::longjmp(back, 1); }

TEST_F(AgentReturnTest, SlotsThatLongjmpLeavesAreFoundAgain) {
  apply(agent, wanted(call_place(), 1, kBoth));
  for (std::atomic<std::uint32_t> i = 0; i < 3 * kSlots; ++i) {
    if (setjmp(back) == 0) lt_test_call(jump_back, nullptr);
  }
  EXPECT_EQ(test_hits[1].entries, 3 * kSlots);
  EXPECT_EQ(agent.missed(1), 0u);
}

TEST_F(AgentReturnTest, CallsThatLongjmpLeftDoNotCountAgainstALimit) {
  apply(agent, wanted(call_place(), 1, kBoth, 3));
  for (std::atomic<int> i = 0; i < 100; ++i) {
    if (setjmp(back) == 0) lt_test_call(jump_back, nullptr);
  }
  EXPECT_EQ(agent.missed(1), 0u);
}

TEST_F(AgentReturnTest, ThreadsThatExitOrAreCancelledGiveTheirSlotsBack) {
  apply(agent, wanted(call_place(), 1, kBoth));
  for (unsigned i = 0; i < 3000; ++i) {
    pthread_t thread;
    const auto exits = [](void*) -> void* {
      lt_test_call([](void*) { ::pthread_exit(nullptr); }, nullptr);
      return nullptr;
    };
    const auto is_cancelled = [](void*) -> void* {
      lt_test_call(
          [](void*) {
            for (;;) ::pause();
          },
          nullptr);
      return nullptr;
    };
    ASSERT_EQ(::pthread_create(&thread, nullptr, i % 2 == 0 ? +exits : +is_cancelled, nullptr), 0);
    if (i % 2 != 0) ::pthread_cancel(thread);
    ::pthread_join(thread, nullptr);
    if (i % 100 == 0) agent.tend();
  }
  EXPECT_EQ(agent.missed(1), 0u);
  agent.tend();
  free_abandoned_slots();
  EXPECT_LT(slots_in_use(), before + 64);
}

// Two stacks, on which calls of the probed function take turns without ever nesting as on one.
struct Coroutines {
  ucontext_t main;
  ucontext_t contexts[2];
  int turn = 0;
  std::uint64_t switches = 0;
};
Coroutines coroutines;
void switch_over(void*) {
  const int from = coroutines.turn;
  coroutines.turn = 1 - from;
  ++coroutines.switches;
  ::swapcontext(&coroutines.contexts[from], &coroutines.contexts[1 - from]);
}
void take_turns() {
  for (int i = 0; i < 1000; ++i) lt_test_call(switch_over, nullptr);
}

TEST_F(AgentReturnTest, CoroutinesTakeTurnsWithinAProbedFunction) {
  apply(agent, wanted(call_place(), 1, kBoth));
  std::vector<char> stacks[2] = {std::vector<char>(256 << 10), std::vector<char>(256 << 10)};
  coroutines = {};
  for (int i = 0; i < 2; ++i) {
    ::getcontext(&coroutines.contexts[i]);
    coroutines.contexts[i].uc_stack.ss_sp = stacks[i].data();
    coroutines.contexts[i].uc_stack.ss_size = stacks[i].size();
    coroutines.contexts[i].uc_link = &coroutines.main;
    ::makecontext(&coroutines.contexts[i], take_turns, 0);
  }
  ::swapcontext(&coroutines.main, &coroutines.contexts[0]);
  EXPECT_GE(coroutines.switches, 1999u);
  EXPECT_GE(test_hits[1].returns, 1998u);
  // The slot of the one that was never gone on with is found when its stack is used otherwise.
  std::fill(stacks[0].begin(), stacks[0].end(), 0);
  std::fill(stacks[1].begin(), stacks[1].end(), 0);
  free_abandoned_slots();
  EXPECT_EQ(slots_in_use(), before);
}

// Stacks that are copied aside and back, to run others in the same place, as greenlets do.
struct Greenlets {
  static constexpr std::size_t kStack = 64 << 10;
  static constexpr unsigned kCount = kSlotsInChunk + 8;  // slots are used again behind a chunk's end
  std::vector<char> stack = std::vector<char>(kStack);
  std::vector<char> aside[kCount];
  ucontext_t main;
  ucontext_t contexts[kCount];
  unsigned current = 0;
  std::vector<unsigned> ended;

  void go_on_with(unsigned number) {
    current = number;
    std::copy(aside[number].begin(), aside[number].end(), stack.begin());
    ::swapcontext(&main, &contexts[number]);
    aside[number] = stack;
  }
};
Greenlets* greenlets;
void leave_greenlet(void*) { ::swapcontext(&greenlets->contexts[greenlets->current], &greenlets->main); }
[[gnu::noinline]] void note_end(unsigned number) { greenlets->ended.push_back(number); }
// Each calls from a place of its own, but at the same depth: where the next one's return address stands on a stack that
// was put aside, this one's stood.
template <unsigned kNumber>
[[gnu::noinline]] void run_greenlet() {
  lt_test_call(leave_greenlet, nullptr);
  note_end(kNumber);
}
template <unsigned... kNumbers>
void begin_greenlet(ucontext_t& context, unsigned number, std::integer_sequence<unsigned, kNumbers...>) {
  constexpr void (*kRuns[])() = {run_greenlet<kNumbers>...};
  ::makecontext(&context, kRuns[number], 0);
}

void put_aside_and_go_on(Agent& agent, bool tends) {
  apply(agent, wanted(call_place(), 1, kBoth, 1));
  const std::uint32_t before = slots_in_use();
  Greenlets all;
  greenlets = &all;
  std::vector<unsigned> order;
  for (unsigned i = 0; i < Greenlets::kCount; ++i) {
    ::getcontext(&all.contexts[i]);
    all.contexts[i].uc_stack.ss_sp = all.stack.data();
    all.contexts[i].uc_stack.ss_size = all.stack.size();
    all.contexts[i].uc_link = &all.main;
    begin_greenlet(all.contexts[i], i, std::make_integer_sequence<unsigned, Greenlets::kCount>());
    all.aside[i] = all.stack;
    all.go_on_with(i);
    if (tends) agent.tend();
    order.push_back(i);
  }
  for (unsigned i = 0; i < Greenlets::kCount; ++i) all.go_on_with(i);
  EXPECT_EQ(all.ended, order);
  EXPECT_EQ(test_hits[1].entries, Greenlets::kCount);
  EXPECT_EQ(test_hits[1].returns, Greenlets::kCount);
  EXPECT_EQ(test_hits[1].missed_returns, 0u);
  EXPECT_EQ(slots_in_use(), before);
  // All are off the limit once.
  lt_test_call([](void*) { lt_test_call([](void*) {}, nullptr); }, nullptr);
  EXPECT_EQ(test_hits[1].returns, Greenlets::kCount + 1);
  EXPECT_EQ(test_hits[1].missed_returns, 1u);
}

TEST_F(AgentReturnTest, AtALimitCallsThatAreOnlyPutAsideComeBackToTheirCallers) { put_aside_and_go_on(agent, false); }

TEST_F(AgentReturnTest, CallsThatAreOnlyPutAsideComeBackWhereTheAgentsThreadFindsThem) {
  put_aside_and_go_on(agent, true);
}

struct Task {
  struct promise_type {
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
Task suspended(int* steps) {
  for (int i = 0; i < 10; ++i) {
    ++*steps;
    co_await std::suspend_always{};
  }
}
void resume(void* handle) { std::coroutine_handle<>::from_address(handle).resume(); }

TEST_F(AgentReturnTest, CoroutinesOfTheLanguageAreResumedAndDestroyedWithinAProbedFunction) {
  apply(agent, wanted(call_place(), 1, kBoth));
  int steps = 0;
  const Task task = suspended(&steps);
  while (!task.handle.done()) lt_test_call(resume, task.handle.address());
  EXPECT_EQ(steps, 10);
  EXPECT_EQ(test_hits[1].returns, 10u);
  task.handle.destroy();
  EXPECT_EQ(slots_in_use(), before);
}

void on_alternate_stack(int) {
  lt_test_recurse(20);
  char text[] = "in a signal handler";
  EXPECT_THROW(lt_test_call(throw_text, text), std::runtime_error);
}

TEST_F(AgentReturnTest, SignalHandlersOnAlternateStacksReturnThroughTheirOwnStubs) {
  apply(agent, wanted(call_place(), 1, kBoth));
  apply(agent, wanted(recurse_place(), 2, kBoth));
  std::vector<char> stack(256 << 10);
  stack_t alternate = {};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  stack_t old;
  ::sigaltstack(&alternate, &old);
  struct sigaction action = {};
  action.sa_handler = on_alternate_stack;
  action.sa_flags = SA_ONSTACK;
  ::sigaction(SIGUSR1, &action, nullptr);
  for (int i = 0; i < 100; ++i) lt_test_call([](void*) { std::raise(SIGUSR1); }, nullptr);
  std::signal(SIGUSR1, SIG_DFL);
  ::sigaltstack(&old, nullptr);
  EXPECT_EQ(test_hits[2].returns, 2100u);
  EXPECT_EQ(test_hits[1].returns, 100u);
  EXPECT_EQ(agent.missed(1), 0u);
}

// Signals at any instruction of the stubs, whose handlers unwind.
std::uint64_t interrupted;
void unwind_here(int) {
  void* frames[64];
  const int count = ::backtrace(frames, 64);
  std::uint64_t own[64];
  unwind::capture(own, 64, {});
  lt_test_recurse(3);
  interrupted += count > 0 ? 1 : 0;
}

TEST_F(AgentReturnTest, SignalsAtAnyTimeFindTheirWay) {
  apply(agent, wanted(call_place(), 1, kBoth));
  apply(agent, wanted(recurse_place(), 2, kBoth));
  interrupted = 0;
  void* frames[4];
  ::backtrace(frames, 4);  // loads what it needs
  struct sigaction action = {};
  action.sa_handler = unwind_here;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval often = {{0, 100}, {0, 100}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  std::uint64_t called = 0;
  while (interrupted < 2000) lt_test_call([](void* count) { ++*static_cast<std::uint64_t*>(count); }, &called);
  const itimerval never = {};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  std::signal(SIGALRM, SIG_DFL);
  EXPECT_EQ(test_hits[1].entries + agent.missed(1), called);
  EXPECT_EQ(slots_in_use(), before);
}

TEST_F(AgentReturnTest, DroppedWhileACallIsInProgressItStillComesBack) {
  apply(agent, wanted(call_place(), 1, kBoth));
  lt_test_call([](void* the_agent) { drop(*static_cast<Agent*>(the_agent), {1}); }, &agent);
  EXPECT_EQ(test_hits[1].entries, 1u);
  EXPECT_EQ(test_hits[1].returns, 0u);
  EXPECT_EQ(slots_in_use(), before);
}

}  // namespace
}  // namespace landtrace::agent
