#include "programs/task.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "programs/test_child.hpp"
#include "programs/test_client.hpp"
#include "programs/test_self.hpp"

namespace landtrace::programs {
namespace {

constexpr std::uint32_t kNobody = 0x7fffffff;  // more than any pid

bool has(const std::vector<TaskStat>& tasks, std::uint32_t pid) {
  return std::any_of(tasks.begin(), tasks.end(), [&](const TaskStat& task) { return task.pid == pid; });
}

TEST(TaskTest, AThreadBelongsToItsProcess) {
  EXPECT_EQ(process_of(me()), me());
  std::thread([] {
    const auto tid = static_cast<std::uint32_t>(::gettid());
    ASSERT_NE(tid, me());
    EXPECT_EQ(process_of(tid), me());
  }).join();
  EXPECT_EQ(process_of(kNobody), kNobody);
}

TEST(TaskTest, AForkedChildHasItsParentsImageAndHasNotCalledExec) {
  const std::uint64_t before = now_ticks();
  const TestChild child;
  const auto parent = stat_of(me());
  const auto task = stat_of(child.pid());
  ASSERT_TRUE(parent && task);
  EXPECT_EQ(task->pid, child.pid());
  EXPECT_EQ(task->parent, me());
  EXPECT_TRUE(task->only_forked);
  EXPECT_TRUE(task->image.is_known());
  EXPECT_EQ(task->image, parent->image);
  EXPECT_LT(task->image.start_code, task->image.end_code);
  EXPECT_LE(parent->start_ticks, task->start_ticks);
  EXPECT_LE(before, task->start_ticks);
  EXPECT_LE(task->start_ticks, now_ticks());
}

TEST(TaskTest, AProgramThatCalledExecHasAnImageOfItsOwn) {
  const TestClient client;
  const auto task = stat_of(client.pid());
  ASSERT_TRUE(task);
  EXPECT_EQ(task->parent, me());
  EXPECT_FALSE(task->only_forked);
  EXPECT_TRUE(task->image.is_known());
  EXPECT_FALSE(task->image == stat_of(me())->image);
}

TEST(TaskTest, AProgramsNameMayLookLikeTheRestOfTheLine) {
  const TestChild child([] { ::prctl(PR_SET_NAME, "a) R 1 2 3 (b"); });
  const auto task = stat_of(child.pid());
  ASSERT_TRUE(task);
  EXPECT_EQ(task->parent, me());
  EXPECT_TRUE(task->only_forked);
}

TEST(TaskTest, NothingIsSaidOfAProcessThatIsNotThere) {
  EXPECT_FALSE(stat_of(kNobody));
  TestChild child;
  const std::uint32_t pid = child.pid();
  EXPECT_TRUE(stat_of(pid));
  child.end();
  EXPECT_FALSE(stat_of(pid));
}

TEST(TaskTest, AllProcessesAreListedAndNoThreads) {
  const TestChild child;
  std::thread([&] {
    const auto tasks = all_tasks();
    EXPECT_TRUE(has(tasks, me()));
    EXPECT_TRUE(has(tasks, child.pid()));
    EXPECT_FALSE(has(tasks, static_cast<std::uint32_t>(::gettid())));
  }).join();
}

TEST(TaskTest, OnlyThreadsAndVforkChildrenShareMemory) {
  std::thread([] { EXPECT_TRUE(share_memory(me(), static_cast<std::uint32_t>(::gettid()))); }).join();
  const TestChild child;
  EXPECT_FALSE(share_memory(me(), child.pid()));
  EXPECT_FALSE(share_memory(me(), kNobody));
  TestClient client;
  const std::uint32_t parent = client.pid();
  client.tell("vfork_and_wait");
  std::uint32_t sharer = 0;
  while (sharer == 0) {
    for (const TaskStat& task : all_tasks()) sharer = task.parent == parent ? task.pid : sharer;
  }
  EXPECT_TRUE(share_memory(parent, sharer));
  EXPECT_TRUE(share_memory(sharer, parent));
  ::kill(static_cast<pid_t>(sharer), SIGKILL);
}

TEST(TaskTest, AllChildrenOfAllThreadsAreBelow) {
  const TestChild first, second;
  std::thread([&] {
    const TestChild third;  // of another thread
    const auto tasks = tasks_below(me());
    EXPECT_EQ(tasks.size(), 3u);
    for (const TestChild* const child : {&first, &second, &third}) EXPECT_TRUE(has(tasks, child->pid()));
  }).join();
}

TEST(TaskTest, ChildrenOfChildrenAreBelow) {
  TestClient client;
  const std::uint32_t first = client.pid();
  client.become("fork");
  const std::uint32_t second = client.pid();
  client.become("fork");
  const std::uint32_t third = client.pid();
  const auto tasks = tasks_below(first);
  EXPECT_EQ(tasks.size(), 2u);
  EXPECT_TRUE(has(tasks, second));
  EXPECT_TRUE(has(tasks, third));
  EXPECT_EQ(tasks_below(third).size(), 0u);
  client.quit_to(second);
  client.quit_to(first);
}

}  // namespace
}  // namespace landtrace::programs
