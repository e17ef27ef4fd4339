#include "programs/assumed_identity.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>

#include "base/fd.hpp"
#include "programs/test_child.hpp"
#include "programs/test_self.hpp"

namespace landtrace::programs {
namespace {

constexpr Identity kRoot{0, 0};

// Both as the calling thread has them now.
Identity file_ids() {
  return {static_cast<std::uint32_t>(::syscall(SYS_setfsuid, ~0u)),
          static_cast<std::uint32_t>(::syscall(SYS_setfsgid, ~0u))};
}
bool may(unsigned capability) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  EXPECT_EQ(::syscall(SYS_capget, &header, data), 0);
  return (data[capability / 32].effective & 1u << capability % 32) != 0;
}
bool opens(const std::string& path) { return static_cast<bool>(Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC))); }

class AssumedIdentityTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to act as another user";
  }
};

TEST_F(AssumedIdentityTest, OnlyForAClientWithFewerRightsIsThereAnythingToAssume) {
  EXPECT_TRUE(must_assume(kNobody));
  EXPECT_TRUE(must_assume({1, 0})) << "the group does not count";
  EXPECT_FALSE(must_assume({0, 65534}));
  const AssumedIdentity same(kRoot);
  EXPECT_TRUE(same.succeeded());
  EXPECT_EQ(file_ids().uid, 0u);
  EXPECT_TRUE(may(CAP_SYS_PTRACE));
}

TEST_F(AssumedIdentityTest, FilesAreOpenedAsTheClientWouldAndThenAsBefore) {
  char path[] = "/tmp/landtrace-assumed-XXXXXX";
  const Fd file(::mkostemp(path, O_CLOEXEC));
  ASSERT_TRUE(file);
  ASSERT_EQ(::fchmod(file.get(), 0600), 0);
  {
    const AssumedIdentity identity(kNobody);
    ASSERT_TRUE(identity.succeeded());
    EXPECT_FALSE(opens(path));
    EXPECT_EQ(file_ids().uid, kNobody.uid);
    EXPECT_EQ(file_ids().gid, kNobody.gid);
    ASSERT_EQ(::fchown(file.get(), 0, 0), -1) << "no right over files is left";
  }
  EXPECT_TRUE(opens(path));
  EXPECT_EQ(file_ids().uid, 0u);
  EXPECT_EQ(file_ids().gid, 0u);
  ASSERT_EQ(::fchown(file.get(), kNobody.uid, 0), 0);
  {
    const AssumedIdentity identity(kNobody);
    EXPECT_TRUE(opens(path)) << "what is the client's is opened";
  }
  ::unlink(path);
}

TEST_F(AssumedIdentityTest, NoMemoryIsOpenedThatTheClientCouldNotOpen) {
  const TestChild roots;
  const TestChild nobodys([] { become_user(kNobody.uid); });
  const auto memory_of = [](const TestChild& child) { return "/proc/" + std::to_string(child.pid()) + "/mem"; };
  EXPECT_TRUE(opens(memory_of(roots)));
  const AssumedIdentity identity(kNobody);
  EXPECT_FALSE(may(CAP_SYS_PTRACE));
  EXPECT_FALSE(opens(memory_of(roots)));
  EXPECT_TRUE(opens(memory_of(nobodys)));
}

TEST_F(AssumedIdentityTest, CapabilitiesComeBack) {
  ASSERT_TRUE(may(CAP_SYS_PTRACE) && may(CAP_CHOWN));
  { const AssumedIdentity identity(kNobody); }
  EXPECT_TRUE(may(CAP_SYS_PTRACE));
  EXPECT_TRUE(may(CAP_CHOWN));
}

TEST_F(AssumedIdentityTest, OtherThreadsKeepTheirRights) {
  std::promise<void> assumed, seen;
  auto other = std::async(std::launch::async, [&] {
    assumed.get_future().wait();
    EXPECT_EQ(file_ids().uid, 0u);
    EXPECT_TRUE(may(CAP_SYS_PTRACE));
    seen.set_value();
  });
  const AssumedIdentity identity(kNobody);
  assumed.set_value();
  seen.get_future().wait();
  EXPECT_EQ(file_ids().uid, kNobody.uid);
}

TEST_F(AssumedIdentityTest, TheRealIdsStayRoots) {
  const AssumedIdentity identity(kNobody);
  uid_t real = 1, effective = 1, saved = 1;
  ASSERT_EQ(::getresuid(&real, &effective, &saved), 0);
  EXPECT_EQ(real, 0u);
  EXPECT_EQ(effective, 0u);
  EXPECT_EQ(saved, 0u);
}

}  // namespace
}  // namespace landtrace::programs
