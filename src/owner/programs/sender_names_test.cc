#include "programs/sender_names.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

namespace landtrace::programs {
namespace {

constexpr std::uint32_t kThread = 12345, kOther = 12346;
int looks = 0;

std::optional<std::string> nobody(std::uint32_t) {
  ++looks;
  return std::nullopt;
}

class SenderNamesTest : public testing::Test {
 protected:
  SenderNamesTest() { looks = 0; }
  std::string name_of(std::uint32_t tid) {
    const plan::TaskEntry& entry = data_->tasks[tid % plan::kMaxTasks];
    return entry.tid == tid ? entry.comm : "";
  }
  std::unique_ptr<plan::DataSegment> data_ = std::make_unique<plan::DataSegment>();
};

TEST_F(SenderNamesTest, AThreadsNameIsLeftOnce) {
  SenderNames names([](std::uint32_t) {
    ++looks;
    return std::optional<std::string>("a_rather_long_name_of_a_thread");
  });
  names.leave(*data_, kThread);
  names.leave(*data_, kThread);
  EXPECT_EQ(looks, 1);
  EXPECT_EQ(name_of(kThread), "a_rather_long_n");
}

TEST_F(SenderNamesTest, OneWhoseNameCannotBeToldIsNotLookedForAtEachEvent) {
  SenderNames names(nobody);
  for (const std::uint32_t tid : {kThread, kOther, kThread, kOther, 0u, 0u}) names.leave(*data_, tid);
  EXPECT_EQ(looks, 2) << "and no thread has the number 0";
  EXPECT_EQ(name_of(kThread), "");
}

TEST_F(SenderNamesTest, ItIsTheThreadsOwnNameThatIsFound) {
  SenderNames names;
  const auto me = static_cast<std::uint32_t>(::gettid());
  names.leave(*data_, me);
  EXPECT_NE(name_of(me), "");
  EXPECT_EQ(data_->tasks[me % plan::kMaxTasks].pid, static_cast<std::uint32_t>(::getpid()));
}

}  // namespace
}  // namespace landtrace::programs
