// Owners that are killed, owners that come after them or come late, and programs on the native API. The owners are
// ../shim/domain_host.cc, the programs native_program.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "owner.hpp"

namespace landtrace {
namespace {

using testing::HasSubstr;
using testing::Not;

class NativeRestartTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override {
    owner_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::unique_ptr<TalkingProcess> program(TalkingProcess::Environment environment = {}) {
    environment.emplace_back("LANDTRACE_SOCKET", socket_);
    environment.emplace_back("LANDTRACE_BACKEND", "domain");
    auto made = std::make_unique<TalkingProcess>(std::vector<std::string>{LANDTRACE_NATIVE_PROGRAM}, environment);
    EXPECT_EQ(made->line(), "ready");
    return made;
  }
  Owner& start_owner() { return owner_.emplace(socket_); }
  bool has_event(const std::string& name) {
    return comes_true([&] { return owner_->ask("ls user_events").find(name + "\n") != std::string::npos; });
  }

  std::string folder_ = testing::TempDir() + "native_restart_test-" + std::to_string(::getpid());
  std::string socket_ = folder_ + "/domain.sock";
  std::optional<Owner> owner_;
};

TEST_F(NativeRestartTest, AnIdleProgramJoinsTheNextOwner) {
  start_owner();
  const auto program = this->program();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  ASSERT_EQ(program->ask("reg second u32 n"), "0");
  owner_->kill();
  std::filesystem::remove(socket_ + ".state");  // the program knows its events itself
  start_owner();
  ASSERT_TRUE(has_event("first") && has_event("second"));
  owner_->ask("listen second");
  EXPECT_EQ(program->ask("on 0"), "0");
  EXPECT_EQ(program->ask("on 1"), "1");
  EXPECT_EQ(program->ask("emit 1 7"), "0");
  EXPECT_EQ(owner_->ask("trace"), "second: n=0x7 (7)\n");
  EXPECT_EQ(program->ask("reg third u32 n"), "0");
  EXPECT_EQ(program->ask("unreg 0"), "0");
  owner_->kill();
  EXPECT_EQ(start_owner().ask("listen user_events:*"), "ok\n");
  ASSERT_TRUE(has_event("third"));
  ASSERT_NE(program->ask("time 2 9"), "-1");
}

TEST_F(NativeRestartTest, AHundredOwnersInARow) {
  start_owner();
  const auto program = this->program();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  const std::string descriptors = program->ask("descriptors");
  long longest_us = 0, sum_us = 0, longest_us_with_start = 0;
  for (int i = 1; i <= 100; ++i) {
    const long killed = now_us();
    owner_->kill();
    program->say("time 0 " + std::to_string(i));
    start_owner();
    const long serving = now_us();
    ASSERT_EQ(owner_->ask("listen first"), "ok\n");
    const long emitted = std::stol(program->line());
    ASSERT_GT(emitted, 0) << "owner " << i;
    ASSERT_EQ(owner_->ask("count"), "1\n");
    longest_us = std::max(longest_us, emitted - serving);
    longest_us_with_start = std::max(longest_us_with_start, emitted - killed);
    sum_us += emitted - serving;
  }
  EXPECT_EQ(program->ask("descriptors"), descriptors);
  std::printf("new owner serves -> recorded again: mean %ld us, longest %ld us; kill -> recorded: longest %ld us\n",
              sum_us / 100, longest_us, longest_us_with_start);
}

TEST_F(NativeRestartTest, EightThreadsEmitOnWhileOwnersComeAndGo) {
  start_owner();
  const auto program = this->program();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  owner_->ask("listen first");
  ASSERT_EQ(program->ask("storm"), "0");
  for (int i = 0; i < 20; ++i) {
    ::usleep(20'000);
    owner_->kill();
    start_owner().ask("listen first");
    EXPECT_TRUE(comes_true([&] { return owner_->ask("count") != "0\n"; })) << "owner " << i;
  }
  EXPECT_GT(std::stol("0" + program->ask("stop")), 0);
}

TEST_F(NativeRestartTest, EventsOfOtherProgramsAreNotMixedUp) {
  start_owner();
  const auto one = program();
  ASSERT_EQ(one->ask("reg one u32 n"), "0");
  ASSERT_EQ(one->ask("storm"), "0");
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(owner_->ask("listen one"), "ok\n");
    ASSERT_TRUE(comes_true([&] { return owner_->ask("count") != "0\n"; }));
    owner_->kill();
    std::filesystem::remove(socket_ + ".state");
    start_owner().ask("listen other");
    const auto other = program();  // may get the number that the first program's event had
    ASSERT_EQ(other->ask("reg other u32 m"), "0");
    ASSERT_TRUE(has_event("one"));
    ::usleep(2'000);
    ASSERT_EQ(owner_->ask("count"), "0\n");
  }
  one->ask("stop");
}

TEST_F(NativeRestartTest, AnOwnerThatComesLateIsFound) {
  const auto program = this->program();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  EXPECT_EQ(program->ask("emit 0 1"), "-9");
  ::usleep(700'000);
  start_owner().ask("listen first");
  EXPECT_NE(program->ask("time 0 1"), "-1");
  EXPECT_EQ(owner_->ask("count"), "1\n");
}

TEST_F(NativeRestartTest, AnOwnerIsFoundInAFolderThatIsMadeLater) {
  std::filesystem::remove(folder_);
  const auto program = this->program();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  ::usleep(700'000);
  std::filesystem::create_directory(folder_);
  start_owner().ask("listen first");
  EXPECT_NE(program->ask("time 0 1"), "-1");
}

TEST_F(NativeRestartTest, ChildrenJoinTheNextOwnerThemselves) {
  start_owner();
  const auto program = this->program();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  ASSERT_EQ(program->ask("child 0 1"), "0");
  owner_->kill();
  start_owner().ask("listen first");
  EXPECT_EQ(program->ask("join"), "0");
  EXPECT_NE(program->ask("time 0 2"), "-1");
  owner_->kill();
  ASSERT_EQ(program->ask("child 0 3"), "0");
  EXPECT_EQ(program->ask("fork"), "0");  // the parent ends
  start_owner().ask("listen first");
  EXPECT_NE(program->ask("time 0 4"), "-1");
  ASSERT_TRUE(comes_true([&] { return owner_->ask("count") == "2\n"; }));
}

TEST_F(NativeRestartTest, AChildKeepsEventsThatItsParentRegistered) {
  start_owner();
  const auto program = this->program();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  owner_->kill();
  start_owner();
  ASSERT_TRUE(has_event("first"));
  EXPECT_EQ(program->ask("fork"), "0");
  ::usleep(6'000'000);  // what was restored is not kept for ever
  EXPECT_TRUE(has_event("first"));
  owner_->ask("listen first");
  EXPECT_NE(program->ask("time 0 4"), "-1");
}

TEST_F(NativeRestartTest, TheOwnerNeverComesBack) {
  start_owner();
  const auto program = this->program();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  owner_->ask("listen first");
  ASSERT_EQ(program->ask("on 0"), "1");
  owner_->kill();
  // From here on an event costs a test and a branch again.
  EXPECT_TRUE(comes_true([&] { return program->ask("on 0") == "0"; }));
  EXPECT_EQ(program->ask("emit 0 1"), "-9");
  EXPECT_EQ(program->ask("unreg 0"), "0");
}

TEST_F(NativeRestartTest, WithoutTheHelperProgramsLookForTheOwnerThemselves) {
  start_owner();
  const auto program = this->program({{"LANDTRACE_HELPER", "0"}});
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  EXPECT_EQ(program->ask("threads"), "1");
  owner_->ask("listen first");
  owner_->kill();
  EXPECT_EQ(program->ask("emit 0 1"), "-9");
  EXPECT_EQ(program->ask("attach"), "0");
  start_owner().ask("listen first");
  ::usleep(30'000);
  std::string attached;  // to an owner that is busy only when it is looked for again
  EXPECT_TRUE(comes_true([&] { return (attached = program->ask("attach")) != "0"; }));
  EXPECT_EQ(attached, "1");
  EXPECT_EQ(program->ask("emit 0 2"), "0");
  EXPECT_EQ(owner_->ask("count"), "1\n");
}

TEST_F(NativeRestartTest, TheHelperEndsWhenItIsToldTo) {
  start_owner();
  const auto program = this->program();
  EXPECT_EQ(program->ask("threads"), "1");
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  EXPECT_EQ(program->ask("threads"), "2");
  EXPECT_EQ(program->ask("helper 0"), "0");
  EXPECT_EQ(program->ask("threads"), "1");
  EXPECT_EQ(program->ask("helper 1"), "0");
  EXPECT_EQ(program->ask("threads"), "2");
  EXPECT_EQ(program->ask("unreg 0"), "0");
  EXPECT_EQ(program->ask("threads"), "1");
  ASSERT_EQ(program->ask("reg second u32 n"), "0");
  EXPECT_EQ(program->ask("threads"), "2");
  EXPECT_EQ(program->ask("helper 0"), "0");
  EXPECT_EQ(program->ask("fork"), "0");
  EXPECT_EQ(program->ask("threads"), "1");
  EXPECT_EQ(program->ask("helper 1"), "0");
  EXPECT_EQ(program->ask("helper 0"), "0");
  // As one that never had a second thread.
  if (::geteuid() == 0) {
    EXPECT_EQ(program->ask("new user namespace"), "0");
  }
}

TEST_F(NativeRestartTest, TheHelperIsOutOfReachOfAProgramThatClosesEverything) {
  start_owner();
  const auto program = this->program();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  EXPECT_EQ(program->ask("close all"), "0");
  EXPECT_EQ(program->ask("descriptors"), "4");  // 0, 1, 2 and the one that counts
  owner_->kill();
  start_owner().ask("listen first");
  EXPECT_NE(program->ask("time 0 1"), "-1");
  EXPECT_EQ(program->ask("descriptors"), "4");
}

}  // namespace
}  // namespace landtrace
