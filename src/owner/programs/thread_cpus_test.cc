#include "programs/thread_cpus.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <thread>
#include <vector>

#include "base/test_thread.hpp"
#include "programs/task.hpp"
#include "programs/test_child.hpp"

namespace landtrace::programs {
namespace {

std::vector<std::uint32_t> cpus_of_this_thread() {
  cpu_set_t set;
  std::vector<std::uint32_t> cpus;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

void run_on(std::uint32_t pid, const std::vector<std::uint32_t>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::uint32_t cpu : cpus) CPU_SET(cpu, &set);
  ASSERT_EQ(::sched_setaffinity(static_cast<pid_t>(pid), sizeof set, &set), 0);
}

// A thread that goes to a CPU when it is told to, and waits there.
class Waiter {
 public:
  Waiter() : thread_([this] { run(); }) {
    char byte = 0;
    EXPECT_EQ(::read(answers_[0], &byte, 1), 1);
  }
  ~Waiter() {
    ::close(orders_[1]);
    thread_.join();
    for (const int fd : {orders_[0], answers_[0], answers_[1]}) ::close(fd);
  }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  [[nodiscard]] std::uint32_t tid() const { return tid_; }
  // It may run anywhere again afterwards, but does not run.
  void go_to(std::uint32_t cpu) {
    char byte = 0;
    ASSERT_EQ(::write(orders_[1], &cpu, sizeof cpu), ssize_t{sizeof cpu});
    ASSERT_EQ(::read(answers_[0], &byte, 1), 1);
    // Until it waits: the answer is written before.
    while (*stat_text().begin() != 'S') std::this_thread::yield();
    run_on(tid_, all_);
  }

 private:
  std::string stat_text() const {
    const auto text = read_file("/proc/self/task/" + std::to_string(tid_) + "/stat", 4096);
    return text ? text->substr(text->rfind(')') + 2) : "S";
  }
  void run() {
    tid_ = static_cast<std::uint32_t>(::gettid());
    char byte = 0;
    std::ignore = ::write(answers_[1], &byte, 1);
    for (std::uint32_t cpu = 0; ::read(orders_[0], &cpu, sizeof cpu) == ssize_t{sizeof cpu};) {
      run_on(0, {cpu});
      std::ignore = ::write(answers_[1], &byte, 1);
    }
  }

  std::vector<std::uint32_t> all_ = cpus_of_this_thread();
  int orders_[2] = {-1, -1};
  int answers_[2] = {-1, -1};
  bool made_ = ::pipe(orders_) == 0 && ::pipe(answers_) == 0;
  std::uint32_t tid_ = 0;
  std::thread thread_;
};

TEST(ThreadCpusTest, AThreadThatWaitsIsWhereItWentToSleep) {
  Waiter waiter;
  ThreadCpus asked;
  for (int round = 0; round < 3; ++round) {
    for (const std::uint32_t cpu : cpus_of_this_thread()) {
      waiter.go_to(cpu);
      EXPECT_EQ(asked.last_cpu_of(waiter.tid()), cpu);
    }
  }
}

TEST(ThreadCpusTest, AThreadThatMayRunOnOneCpuOnlyIsThere) {
  const TestChild child;
  ThreadCpus asked;
  for (const std::uint32_t cpu : cpus_of_this_thread()) {
    run_on(child.pid(), {cpu});
    EXPECT_EQ(asked.last_cpu_of(child.pid()), cpu);
  }
}

TEST(ThreadCpusTest, OneThatIsNotThereOrNotKnownCountsAsTheCaller) {
  const auto cpus = cpus_of_this_thread();
  ThreadCpus asked;
  std::uint32_t gone = 0;
  {
    const Waiter waiter;
    gone = waiter.tid();
    asked.last_cpu_of(gone);
  }
  wait_until_gone(gone);
  for (const std::uint32_t cpu : cpus) {
    run_on(0, {cpu});
    for (const std::uint32_t tid : {0u, 0x7fffffffu, gone, static_cast<std::uint32_t>(::gettid())}) {
      EXPECT_EQ(asked.last_cpu_of(tid), cpu) << tid;
    }
  }
  run_on(0, cpus);
}

TEST(ThreadCpusTest, ItKeepsFewDescriptorsHoweverManyThreadsThereWere) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  ThreadCpus asked;
  const auto before = open_files();
  for (int i = 0; i < 200; ++i) {
    const Waiter waiter;
    asked.last_cpu_of(waiter.tid());
  }
  EXPECT_LE(open_files(), before + 16);
}

TEST(ThreadCpusTest, TheTextOfAStatFileIsReadWhateverTheThreadIsCalled) {
  const std::string rest =
      " S 1 2 3 0 -1 4194368 17 0 0 0 0 0 0 0 20 0 1 0 2575326 2400256 79 18446744073709551615 9 9 9 0 0 0 0 0 0 0 0 0 "
      "17 5 0 0";
  EXPECT_EQ(last_cpu_in("7 (a)" + rest), 5u);
  EXPECT_EQ(last_cpu_in("7 (a) S 1 (2 ) R)" + rest), 5u);
  EXPECT_EQ(last_cpu_in("7 (a) S 1 2"), std::nullopt);
  EXPECT_EQ(last_cpu_in(""), std::nullopt);
}

}  // namespace
}  // namespace landtrace::programs
