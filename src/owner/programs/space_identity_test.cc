#include "programs/space_identity.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>

#include "base/fd.hpp"
#include "programs/test_child.hpp"
#include "programs/test_client.hpp"

namespace landtrace::programs {
namespace {

Fd memory_of(std::uint32_t pid) {
  return Fd(::open(("/proc/" + std::to_string(pid) + "/mem").c_str(), O_RDONLY | O_CLOEXEC));
}
std::uint64_t identity_of(std::uint32_t pid) { return space_identity(pid, memory_of(pid).get()); }

TEST(SpaceIdentityTest, AForkedChildHasItsParentsNumber) {
  const auto me = static_cast<std::uint32_t>(::getpid());
  const TestChild child;
  EXPECT_NE(identity_of(me), 0u);
  EXPECT_EQ(identity_of(me), identity_of(me));
  EXPECT_EQ(identity_of(child.pid()), identity_of(me));
}

TEST(SpaceIdentityTest, TheSameProgramStartedTwiceHasTwoNumbers) {
  const TestClient one({.random_addresses = false}), two({.random_addresses = false});
  EXPECT_NE(identity_of(one.pid()), 0u);
  EXPECT_NE(identity_of(one.pid()), identity_of(two.pid()));
}

TEST(SpaceIdentityTest, ExecChangesTheNumberAlsoAtTheSameAddresses) {
  TestClient client({.random_addresses = false});
  const std::uint32_t pid = client.pid();
  const std::uint64_t before = identity_of(pid);
  const Fd memory = memory_of(pid);
  ASSERT_EQ(space_identity(pid, memory.get()), before);
  client.become("exec");
  ASSERT_EQ(client.pid(), pid);
  EXPECT_NE(identity_of(pid), 0u);
  EXPECT_NE(identity_of(pid), before);
  EXPECT_EQ(space_identity(pid, memory.get()), 0u) << "that memory is gone";
}

TEST(SpaceIdentityTest, AProcessThatIsNotThereHasNone) {
  EXPECT_EQ(identity_of(0x7fffffff), 0u);
  EXPECT_EQ(space_identity(static_cast<std::uint32_t>(::getpid()), -1), 0u);
}

}  // namespace
}  // namespace landtrace::programs
