// The helper process that keeps other threads out of what changes is killed, at any instruction.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "agent/agent.hpp"
#include "agent/test_places.hpp"

namespace landtrace::agent {
namespace {

constexpr unsigned kThreads = 5;
constexpr long kHelperFlags = CLONE_VM | CLONE_UNTRACED;
constexpr std::uint32_t kPush = 1;
constexpr std::uint32_t kCrossing = 2;

// What program and test have in common.
struct Common {
  std::atomic<std::uint64_t> progress[kThreads];
  std::atomic<std::uint64_t> wrong;
  std::atomic<std::uint64_t> hits[2];
};

using Code = std::array<std::uint8_t, kJumpSize>;
using Places = std::array<Code, 2>;

// A program whose threads run through two places or wait in calls, and whose first one patches them when it is told to.
class Program {
 public:
  Program() {
    void* memory = ::mmap(nullptr, sizeof(Common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    common_ = new (memory) Common{};
    if (::pipe(orders_) != 0 || ::pipe(answers_) != 0) ::abort();
    pid_ = ::fork();
    if (pid_ == 0) run();
    ::close(orders_[0]);
    ::close(answers_[1]);
  }
  ~Program() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, __WALL);
    ::close(orders_[1]);
    ::close(answers_[0]);
    ::munmap(common_, sizeof(Common));
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] Common& common() const { return *common_; }
  // 'p': patch, 'd': drop what is patched, 't': tend.
  void order(char what) const { ASSERT_EQ(::write(orders_[1], &what, 1), 1); }
  // How many places are patched; -1: the program is gone.
  [[nodiscard]] int answer() const {
    std::uint8_t byte = 0;
    return ::read(answers_[0], &byte, 1) == 1 ? byte : -1;
  }
  [[nodiscard]] Places code() const {
    Places code = {};
    for (std::size_t i = 0; i < code.size(); ++i) {
      iovec here = {code[i].data(), code[i].size()};
      iovec there = {const_cast<void*>(address(i)), code[i].size()};
      EXPECT_EQ(::process_vm_readv(pid_, &here, 1, &there, 1, 0), ssize_t{kJumpSize});
    }
    return code;
  }
  static const void* address(std::size_t place) { return place == 0 ? push_place().address : crossing_place().address; }
  // All threads run, and each its own code.
  void check_progress() const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (unsigned i = 0; i < kThreads; ++i) {
      const std::uint64_t before = common_->progress[i];
      while (common_->progress[i] < before + 2) {
        ASSERT_LT(std::chrono::steady_clock::now(), until) << "thread " << i << " is stopped";
        ASSERT_EQ(::waitpid(pid_, nullptr, WNOHANG), 0) << "the program has ended";
        ::usleep(200);
      }
    }
    ASSERT_EQ(common_->wrong, 0u);
  }

 private:
  static void call(Common& common) {
    if (lt_test_push(1) != 3) ++common.wrong;
    if (lt_test_crossing(1) != 3) ++common.wrong;
  }
  [[noreturn]] void run() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(orders_[1]);
    ::close(answers_[0]);
    Common& common = *common_;
    for (unsigned i = 0; i < kThreads; ++i) {
      std::thread([&common, i] {
        for (;; ++common.progress[i]) {
          for (int k = 0; k < 100; ++k) call(common);
          if (i >= 3) ::usleep(i == 3 ? 1000 : 20'000);
        }
      }).detach();
    }
    use_test_handlers();
    Agent agent(Agent::OwnObject::kPatch);
    const TestPlace push = push_place();
    const TestPlace crossing = crossing_place();
    const std::vector<Wanted> both = {wanted(push, kPush), wanted(crossing, kCrossing)};
    for (char what = 0; ::read(orders_[0], &what, 1) == 1;) {
      std::vector<Outcome> outcomes(2);
      if (what == 'p') agent.apply(both, outcomes);
      if (what == 'd') drop(agent, {kPush, kCrossing});
      if (what == 't') agent.tend();
      std::uint8_t patched = 0;
      for (const std::uint32_t number : {kPush, kCrossing}) {
        if (agent.outcome(number).state == PlaceState::kPatched) ++patched;
        common.hits[number - kPush] = __atomic_load_n(&test_hits[number].entries, __ATOMIC_RELAXED);
      }
      if (::write(answers_[1], &patched, 1) != 1) break;
    }
    ::_exit(0);
  }

  Common* common_ = nullptr;
  int orders_[2] = {};
  int answers_[2] = {};
  pid_t pid_ = 0;
};

class AgentKilledTest : public testing::Test {
 protected:
  AgentKilledTest() {
    EXPECT_EQ(::ptrace(PTRACE_SEIZE, program.pid(), 0, PTRACE_O_TRACESYSGOOD), 0);
    old = program.code();
    tell('p');
    fresh = program.code();
    tell('d');
  }
  ~AgentKilledTest() override {
    if (helper != 0) ::kill(helper, SIGKILL);
  }

  static int wait(pid_t who) {
    int status = 0;
    EXPECT_EQ(::waitpid(who, &status, __WALL), who);
    return status;
  }
  // Until what was ordered is done, however often that takes.
  void settle(char what, int patched) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (what == 'p' ? patched != 2 : program.code() != old) {
      ASSERT_NE(patched, -1) << "the program has ended";
      ASSERT_LT(std::chrono::steady_clock::now(), until);
      program.order(what == 'p' ? 'p' : 't');
      patched = program.answer();
    }
  }
  void tell(char what) {
    program.order(what);
    settle(what, program.answer());
  }
  // Gives the order, and stops the helper that carries it out before it has begun.
  void order_and_stop_helper(char what) {
    const pid_t pid = program.pid();
    ASSERT_EQ(::ptrace(PTRACE_INTERRUPT, pid, 0, 0), 0);
    ASSERT_TRUE(WIFSTOPPED(wait(pid)));
    program.order(what);
    helper = 0;
    while (helper == 0) {
      ASSERT_EQ(::ptrace(PTRACE_SYSCALL, pid, 0, 0), 0);
      const int status = wait(pid);
      ASSERT_TRUE(WIFSTOPPED(status)) << status;
      user_regs_struct registers;
      ASSERT_EQ(::ptrace(PTRACE_GETREGS, pid, 0, &registers), 0);
      const bool is_start = registers.orig_rax == SYS_clone && static_cast<long>(registers.rdi) == kHelperFlags;
      if (is_start && static_cast<long>(registers.rax) > 0) helper = static_cast<pid_t>(registers.rax);
    }
    ASSERT_EQ(::ptrace(PTRACE_SEIZE, helper, 0, PTRACE_O_TRACESYSGOOD), 0);
    ASSERT_EQ(::ptrace(PTRACE_INTERRUPT, helper, 0, 0), 0);
    ASSERT_TRUE(WIFSTOPPED(wait(helper)));
    ASSERT_EQ(::ptrace(PTRACE_CONT, pid, 0, 0), 0);
  }
  // False: it has ended.
  bool go_on(__ptrace_request how) {
    if (helper == 0 || ::ptrace(how, helper, 0, 0) != 0) return false;
    if (WIFSTOPPED(wait(helper))) return true;
    helper = 0;
    return false;
  }
  [[nodiscard]] bool is_in_call(long number) const {
    user_regs_struct registers;
    return ::ptrace(PTRACE_GETREGS, helper, 0, &registers) == 0 && static_cast<long>(registers.orig_rax) == number;
  }
  void kill_helper() {
    if (helper == 0) return;
    ::kill(helper, SIGKILL);
    while (WIFSTOPPED(wait(helper))) {
    }
    helper = 0;
  }
  [[nodiscard]] bool is_whole() const {
    const Places code = program.code();
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (code[i] != old[i] && code[i] != fresh[i]) return false;
    }
    return true;
  }
  // The program goes on, and what was ordered can be done.
  void check_after(char what) {
    const int patched = program.answer();
    ASSERT_NE(patched, -1) << "the program has ended";
    ASSERT_TRUE(is_whole());
    program.check_progress();
    if (HasFatalFailure()) return;
    settle(what, patched);
    if (HasFatalFailure() || what == 'd') return;
    const std::uint64_t before[] = {program.common().hits[0], program.common().hits[1]};
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (program.common().hits[0] == before[0] || program.common().hits[1] == before[1]) {
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "nobody is hit";
      tell('p');
    }
  }

  Program program;
  pid_t helper = 0;
  Places old = {};
  Places fresh = {};
};

// Wherever it is killed, the threads run on as the code is then.
TEST_F(AgentKilledTest, TheCodeIsWholeBehindEachInstruction) {
  unsigned seen[2] = {};
  for (unsigned i = 0; i < 200 && (seen[0] < 2 || seen[1] < 2); ++i) {
    const char what = i % 2 == 0 ? 'p' : 'd';
    order_and_stop_helper(what);
    if (HasFatalFailure()) return;
    // All threads are out of the way; now it is fast no more.
    while (go_on(PTRACE_SYSCALL) && !is_in_call(SYS_process_vm_readv)) {
    }
    const Places before = program.code();
    while (go_on(PTRACE_SINGLESTEP)) {
      ASSERT_TRUE(is_whole());
      if (before != program.code()) ++seen[i % 2];
    }
    check_after(what);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seen[0], 0u);
  EXPECT_GT(seen[1], 0u);
}

// LANDTRACE_AGENT_ROUNDS=50 does it so many times as often.
TEST_F(AgentKilledTest, TheProgramGoesOnAndTheNextChangeWorks) {
  const char* times = std::getenv("LANDTRACE_AGENT_ROUNDS");
  const unsigned rounds = 40 * (times != nullptr ? static_cast<unsigned>(std::atoi(times)) : 1);
  std::mt19937 random(rounds);
  std::uniform_int_distribution<unsigned> calls(0, 160);
  std::uniform_int_distribution<unsigned> instructions(0, 300);
  unsigned killed = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    const char what = i % 2 == 0 ? 'p' : 'd';
    const unsigned stops = calls(random);
    const unsigned steps = instructions(random);
    SCOPED_TRACE(testing::Message() << i << ": " << what << ", " << stops << " stops, " << steps << " instructions");
    order_and_stop_helper(what);
    if (HasFatalFailure()) return;
    for (unsigned k = 0; k < stops && go_on(PTRACE_SYSCALL); ++k) {
    }
    for (unsigned k = 0; k < steps && go_on(PTRACE_SINGLESTEP); ++k) {
    }
    if (helper != 0) ++killed;
    kill_helper();
    check_after(what);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(killed, 0u);
}

}  // namespace
}  // namespace landtrace::agent
