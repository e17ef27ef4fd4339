#include "cli/workplace.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "cli/listening.hpp"
#include "cli/test_environment.hpp"
#include "ipc/path.hpp"
#include "output/trace_dat/test_support.hpp"

namespace landtrace::cli {
namespace {

constexpr std::uint64_t kRingBytes = 64 * 1024;

class WorkplaceTest : public testing::Test {
 protected:
  // The shim is the C library, which programs have anyway.
  WorkplaceTest() {
    Dl_info library;
    ::dladdr(reinterpret_cast<void*>(&::getpid), &library);
    std::filesystem::create_symlink(std::filesystem::canonical(library.dli_fname), dir_.file("shim.so"));
    ::pthread_sigmask(SIG_BLOCK, nullptr, &mask_);
  }

  output::TempDir dir_;
  Variable runtime_{"XDG_RUNTIME_DIR", dir_.file("").c_str()};
  Variable named_{ipc::kSocketVariable, nullptr};
  Variable preload_{"LANDTRACE_PRELOAD", dir_.file("shim.so").c_str()};
  sigset_t mask_;
};

TEST_F(WorkplaceTest, TheUsersDomainIsServedFromHereIfNobodyDoes) {
  const auto place = Workplace::find(false, kRingBytes);
  ASSERT_TRUE(place);
  EXPECT_EQ(place->socket(), ipc::user_socket());
  auto second = Workplace::find(false, kRingBytes);
  ASSERT_TRUE(second) << "it joins the first";
  EXPECT_EQ(second->socket(), ipc::user_socket());
  EXPECT_FALSE(second->view().owner_died());
}

TEST_F(WorkplaceTest, ACommandHasADomainOfItsOwn) {
  const auto users = Workplace::find(false, kRingBytes);
  const auto own = Workplace::find(true, kRingBytes);
  ASSERT_TRUE(users && own);
  EXPECT_NE(own->socket(), users->socket());
}

TEST_F(WorkplaceTest, WithoutAShimThereIsNoPlaceForACommand) {
  preload_.set("/nowhere/shim.so");
  const auto own = Workplace::find(true, kRingBytes);
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().code, ENOENT);
  EXPECT_TRUE(Workplace::find(false, kRingBytes)) << "who starts none needs none";
}

TEST_F(WorkplaceTest, TheCommandIsStartedInTheDomain) {
  auto place = Workplace::find(true, kRingBytes);
  ASSERT_TRUE(place);
  const std::string file = dir_.file("said");
  auto child = place->start({"/bin/sh", "-c", "echo \"$LANDTRACE_SOCKET $LD_PRELOAD\" > \"$0\"", file}, false, mask_);
  ASSERT_TRUE(child);
  while (!child->has_ended()) ::usleep(1000);
  EXPECT_EQ(output::read_text(file), place->socket() + " " + dir_.file("shim.so") + "\n");
}

TEST_F(WorkplaceTest, ACommandThatCannotBeRunHasTheStatusOfEnv) {
  auto place = Workplace::find(true, kRingBytes);
  ASSERT_TRUE(place);
  const auto missing = place->start({"no-such-program"}, false, mask_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(status_of_spawn_error(missing.error()), 127);
  const auto plain = place->start({"/dev/null"}, false, mask_);
  ASSERT_FALSE(plain);
  EXPECT_EQ(status_of_spawn_error(plain.error()), 126);
}

std::uint64_t session_bytes(const std::vector<std::string>& command) {
  ListenOptions options{"*:*"};
  Listening listening(options, command);
  const auto begun = listening.begin({.ring_bytes = 32u << 20, .least_ring_bytes = 4u << 20});
  EXPECT_TRUE(begun) << begun.error().message;
  return begun ? listening.session().geometry().size() : 0;
}

TEST_F(WorkplaceTest, ASessionInADomainOfItsOwnIsAsLargeAsIsWanted) {
  EXPECT_EQ(session_bytes({"true"}), 32u << 20);
}

TEST_F(WorkplaceTest, ASessionInTheUsersDomainLeavesRoomForOthers) { EXPECT_EQ(session_bytes({}), 4u << 20); }

}  // namespace
}  // namespace landtrace::cli
