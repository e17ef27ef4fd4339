#include "buffer/task_names.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "plan/thread_slots.hpp"

namespace landtrace::buffer {
namespace {

class TaskNamesTest : public ::testing::Test {
 protected:
  void leave(std::uint32_t tid, std::uint32_t pid, const char* comm) {
    plan::TaskEntry& entry = data_->tasks[tid % plan::kMaxTasks];
    entry.tid = tid;
    entry.pid = pid;
    std::memcpy(entry.comm, comm, std::min(std::strlen(comm) + 1, sizeof entry.comm));
  }

  std::unique_ptr<plan::DataSegment> data_ = std::make_unique<plan::DataSegment>();
  std::map<std::int32_t, output::Task> learnt_;
  int calls_ = 0;
  TaskNames names_{[this](std::int32_t tid, const output::Task& task) {
    learnt_[tid] = task;
    ++calls_;
  }};
};

constexpr std::uint32_t kNobody = 5'000'001;  // above the kernel's largest pid

TEST_F(TaskNamesTest, NameComesFromTheSegmentOnce) {
  leave(kNobody, kNobody - 1, "worker");
  names_.note(kNobody, *data_);
  names_.note(kNobody, *data_);
  EXPECT_EQ(calls_, 1);
  EXPECT_EQ(learnt_[kNobody].comm, "worker");
  EXPECT_EQ(learnt_[kNobody].tgid, kNobody - 1);
}

TEST_F(TaskNamesTest, LivingThreadIsAskedForItsName) {
  const auto pid = static_cast<std::uint32_t>(::getpid());
  plan::claim_thread_slot(*data_, pid, pid);
  ::prctl(PR_SET_NAME, "renamed");
  names_.note(pid, *data_);
  EXPECT_EQ(learnt_[static_cast<std::int32_t>(pid)].comm, "renamed");
  ::prctl(PR_SET_NAME, "again");
  names_.refresh();
  EXPECT_EQ(learnt_[static_cast<std::int32_t>(pid)].comm, "again");
}

// A user that makes up entries cannot give its own name to another's thread, nor read one that it does not
// know.
TEST_F(TaskNamesTest, EntryOfAnotherThreadIsNotBelieved) {
  leave(kNobody, 1, "liar");
  names_.note(kNobody + plan::kMaxTasks, *data_);
  EXPECT_TRUE(learnt_.empty());
}

TEST_F(TaskNamesTest, NameWithoutEndIsCut) {
  leave(kNobody, kNobody, "0123456789abcdefXXXX");
  names_.note(kNobody, *data_);
  EXPECT_EQ(learnt_[kNobody].comm, "0123456789abcdef");
}

TEST_F(TaskNamesTest, ThreadsThatShareAPlaceAreAllKnown) {
  leave(kNobody, kNobody, "one");
  names_.note(kNobody, *data_);
  leave(kNobody + plan::kMaxTasks, kNobody, "two");
  names_.note(kNobody + plan::kMaxTasks, *data_);
  names_.note(kNobody, *data_);
  EXPECT_EQ(learnt_[kNobody].comm, "one");
  EXPECT_EQ(learnt_[kNobody + static_cast<std::int32_t>(plan::kMaxTasks)].comm, "two");
  EXPECT_EQ(calls_, 2);
  EXPECT_EQ(names_.processes(), 1u);
}

}  // namespace
}  // namespace landtrace::buffer
