#include "fuse/errands.hpp"

#include <signal.h>
#include <sys/wait.h>

#include "abi/user_events.hpp"
#include "fuse/test_mount.hpp"
#include "programs/test_silent_page.hpp"
#include "tracefs/tree.hpp"

namespace landtrace::fuse::test {
namespace {

using abi::kIoctlRegister;
using abi::UserReg;
using programs::SilentPage;

class ErrandsTest : public MountTest {
 protected:
  void SetUp() override {
    MountTest::SetUp();
    if (folder_.empty()) return;
    if (!SilentPage().is_there()) GTEST_SKIP() << "no userfaultfd here";
    real_.emplace(*domain_, *rules_);
    tree_->root = std::static_pointer_cast<tracefs::ListFolder>(real_->root());
    serve();
  }
  void TearDown() override {
    MountTest::TearDown();
    real_.reset();
  }
  // 0 or errno. The kernel itself copies the beginning of the structure, in the caller's own time: so it is the text
  // that takes long.
  int register_it(const Fd& file, const void* text, std::uint32_t& word) {
    UserReg reg{};
    reg = {sizeof reg, 0, 4, 0, reinterpret_cast<std::uint64_t>(&word), reinterpret_cast<std::uint64_t>(text), 9};
    const int result = ::ioctl(file.get(), kIoctlRegister, &reg) == 0 ? 0 : errno;
    index_ = reg.write_index;
    return result;
  }
  bool is_registered(const char* name) {
    return change([&] { return domain_->events().find(domain::kSystem, name) != nullptr; });
  }

  std::optional<tracefs::Tree> real_;
  std::uint32_t word_ = 0;
  std::uint32_t index_ = 9;
};

TEST_F(ErrandsTest, CallersWhoseMemoryTakesItsTimeHoldUpNoOtherRequest) {
  const SilentPage page;
  const Fd file = open("user_events_data", O_RDWR);
  int result = -1;
  std::thread slow([&] { result = register_it(file, page.data(), word_); });
  page.wait_until_touched();
  const Fd other = open("user_events_data", O_RDWR);
  std::uint32_t word = 0;
  EXPECT_EQ(register_it(other, "quick", word), 0);
  EXPECT_EQ(write_some(open("set_event", O_WRONLY).get(), "quick"), 0);
  EXPECT_EQ(word, 1u);
  page.answer_with("slow", 5);
  slow.join();
  EXPECT_EQ(result, 0);
  EXPECT_EQ(index_, 0u);
  EXPECT_TRUE(is_registered("slow"));
}

TEST_F(ErrandsTest, ACallerWhoIsKilledMeanwhileIsLetGo) {
  int told[2];
  ASSERT_EQ(::pipe2(told, O_CLOEXEC), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const SilentPage page;
    const Fd file = open("user_events_data", O_RDWR);
    std::thread slow([&] { register_it(file, page.data(), word_); });
    page.wait_until_touched();
    std::ignore = ::write(told[1], "x", 1);
    slow.join();
    ::_exit(0);
  }
  ::close(told[1]);
  EXPECT_EQ(read_some(told[0]), "x");
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(told[0]);
}

TEST_F(ErrandsTest, CallersGetAnAnswerWhenTheMountGoes) {
  const SilentPage page;
  const Fd file = open("user_events_data", O_RDWR);
  int result = -1;
  std::thread slow([&] { result = register_it(file, page.data(), word_); });
  page.wait_until_touched();
  session_.reset();
  slow.join();
  EXPECT_EQ(result, ENOTCONN);
  page.answer_with("slow", 5);  // lets the thread that was left behind go
  EXPECT_FALSE(is_registered("slow"));
}

}  // namespace
}  // namespace landtrace::fuse::test
