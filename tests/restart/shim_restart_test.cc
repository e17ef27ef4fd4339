// Owners that are killed, owners that come after them, and unmodified programs that go on. The owners are
// domain_host.cc, the programs abi_client.c.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "owner.hpp"

namespace landtrace {
namespace {

using testing::HasSubstr;
using testing::Not;

class ShimRestartTest : public testing::Test {
 protected:
  void SetUp() override { owner_.emplace(socket_); }
  void TearDown() override {
    std::filesystem::remove(socket_);
    for (const char* const end : {"", ".bits", ".bytes"}) std::filesystem::remove(state_ + end);
  }

  TalkingProcess::Environment environment() { return {{"LANDTRACE_SOCKET", socket_}, {"LD_PRELOAD", LANDTRACE_SHIM}}; }
  std::unique_ptr<TalkingProcess> client(const std::string& what = "obeys") {
    auto made = std::make_unique<TalkingProcess>(
        std::vector<std::string>{LANDTRACE_ABI_CLIENT, what, "/nonexistent/tracefs/user_events_data"}, environment());
    EXPECT_EQ(made->line(), "ready");
    return made;
  }
  // What the program answers to `what`, an emit, when it has joined the next owner. A write does not wait for long for
  // an owner that is busy: it fails, and the next one tries again.
  static std::string ask_joined(TalkingProcess& program, const std::string& what) {
    std::string answer;
    EXPECT_TRUE(comes_true([&] { return (answer = program.ask(what)) != "-9"; })) << what;
    return answer;
  }
  void kill_owner() { owner_->kill(); }
  bool has_listed(const std::string& system, const std::string& event) {
    return owner_->ask("ls " + system).find(event) != std::string::npos;
  }
  Owner& next_owner(bool keeps_journal = true) {
    owner_->kill();
    owner_.emplace(socket_, keeps_journal);
    return *owner_;
  }

  std::string socket_ = testing::TempDir() + "shim_restart_test-" + std::to_string(::getpid()) + ".sock";
  std::string state_ = socket_ + ".state";
  std::optional<Owner> owner_;
};

TEST_F(ShimRestartTest, AnIdleProgramIsEnabledByTheNextOwnerAndItsEventsAreRecorded) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  ASSERT_EQ(program->ask("reg second u32 n"), "1");
  next_owner();
  EXPECT_EQ(owner_->ask("cat user_events_status"), "second\nfirst\n\nActive: 2\nBusy: 0\n");
  EXPECT_EQ(owner_->ask("listen second"), "ok\n");
  EXPECT_EQ(program->ask("word 0"), "0");
  EXPECT_EQ(program->ask("word 1"), "1");
  EXPECT_EQ(ask_joined(*program, "emit 1 7"), "8");
  EXPECT_EQ(program->ask("emit 0 8"), "-9");
  EXPECT_EQ(owner_->ask("trace"), "second: n=0x7 (7)\n");
}

TEST_F(ShimRestartTest, AProgramRegistersUnregistersAndEmitsWithTheNextOwner) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  next_owner();
  EXPECT_EQ(program->ask("reg first u32 n"), "0");  // the file's index of that event, for another word
  EXPECT_EQ(program->ask("reg second u32 n"), "1");
  EXPECT_EQ(program->ask("again 0"), "-98");
  EXPECT_EQ(program->ask("unreg 0"), "0");
  EXPECT_EQ(program->ask("unreg 0"), "-2");
  owner_->ask("listen user_events:*");
  EXPECT_EQ(program->ask("word 0"), "0");
  EXPECT_EQ(program->ask("word 1"), "1");
  EXPECT_EQ(ask_joined(*program, "emit 2 3"), "8");
  EXPECT_EQ(owner_->ask("trace"), "second: n=0x3 (3)\n");
}

TEST_F(ShimRestartTest, EnabledEventsAreDisabledUntilSomebodyListensAgain) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  owner_->ask("listen first");
  ASSERT_EQ(program->ask("word 0"), "1");
  kill_owner();
  EXPECT_EQ(program->ask("word 0"), "1");  // nobody is there to clear it
  EXPECT_EQ(program->ask("emit 0 1"), "-9");
  owner_.emplace(socket_);
  EXPECT_EQ(program->ask("word 0"), "0");
  ::usleep(30'000);  // a program that found nobody does not look again at once
  EXPECT_EQ(program->ask("emit 0 1"), "-9");
  owner_->ask("listen first");
  EXPECT_EQ(ask_joined(*program, "emit 0 2"), "8");
}

TEST_F(ShimRestartTest, AHundredOwnersInARow) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  long longest_us = 0, sum_us = 0, longest_us_with_start = 0;
  for (int i = 1; i <= 100; ++i) {
    const long killed = now_us();
    kill_owner();
    program->say("time 0 " + std::to_string(i));
    owner_.emplace(socket_);
    const long serving = now_us();
    ASSERT_EQ(owner_->ask("listen first"), "ok\n");
    const long emitted = std::stol(program->line());
    ASSERT_GT(emitted, 0) << "owner " << i;
    ASSERT_EQ(
        owner_->ask("trace"), "first: n=0x" + [&] {
          char hex[16];
          std::snprintf(hex, sizeof hex, "%x (%d)\n", i, i);
          return std::string(hex);
        }());
    longest_us = std::max(longest_us, emitted - serving);
    longest_us_with_start = std::max(longest_us_with_start, emitted - killed);
    sum_us += emitted - serving;
  }
  std::printf("new owner serves -> recorded again: mean %ld us, longest %ld us; kill -> recorded: longest %ld us\n",
              sum_us / 100, longest_us, longest_us_with_start);
}

TEST_F(ShimRestartTest, EightThreadsEmitOnWhileOwnersComeAndGo) {
  const auto program = client("storms");
  owner_->ask("listen storm_event");
  for (int i = 0; i < 20; ++i) {
    ::usleep(20'000);
    next_owner().ask("listen storm_event");
    EXPECT_TRUE(comes_true([&] { return owner_->ask("count") != "0\n"; })) << "owner " << i;
  }
  program->hang_up();
  EXPECT_GT(std::stol("0" + program->line()), 0);
  EXPECT_EQ(program->wait(), 0);
}

TEST_F(ShimRestartTest, ProgramsWhoseOwnerNeverComesBackGoOn) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  owner_->ask("listen first");
  kill_owner();
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(program->ask("emit 0 1"), "-9");
  EXPECT_EQ(program->ask("reg other u32 n"), "-19");
  EXPECT_EQ(program->ask("unreg 0"), "-19");
  EXPECT_EQ(program->ask("child 0 1"), "ok");
  EXPECT_EQ(program->ask("close"), "0");
  EXPECT_EQ(program->ask("emit 0 1"), "-9");
}

TEST_F(ShimRestartTest, NamesOfEventsOfSeveralFormatsStayWhatTheyWere) {
  const auto program = client();
  const auto other = client();
  ASSERT_EQ(other->ask("multi many u64 x"), "0");
  ASSERT_EQ(program->ask("multi many u32 n"), "0");
  const std::string names = owner_->ask("ls user_events_multi");
  EXPECT_THAT(names, HasSubstr("many.0\nmany.1\n"));
  other->kill();  // many.0 goes, and its number does not come back
  ASSERT_TRUE(comes_true([&] { return !has_listed("user_events_multi", "many.0"); }));
  next_owner();
  EXPECT_THAT(owner_->ask("ls user_events_multi"), Not(HasSubstr("many.0")));
  EXPECT_THAT(owner_->ask("ls user_events_multi"), HasSubstr("many.1"));
  EXPECT_EQ(program->ask("multi many u16 y"), "1");
  EXPECT_THAT(owner_->ask("ls user_events_multi"), HasSubstr("many.1\nmany.2"));
}

TEST_F(ShimRestartTest, WhatDiedWithTheOwnerOrAfterItIsDropped) {
  const auto stays = client();
  ASSERT_EQ(stays->ask("reg stays u32 n"), "0");
  auto goes = client();
  ASSERT_EQ(goes->ask("reg goes u32 n"), "0");
  auto goes_later = client();
  ASSERT_EQ(goes_later->ask("reg goes_later u32 n"), "0");
  kill_owner();
  goes.reset();
  owner_.emplace(socket_);
  ::usleep(5'200'000);  // events wait for programs that register them again
  EXPECT_TRUE(
      comes_true([&] { return owner_->ask("cat user_events_status") == "goes_later\nstays\n\nActive: 2\nBusy: 0\n"; }));
  goes_later.reset();
  EXPECT_TRUE(comes_true([&] { return !has_listed("user_events", "goes"); }));
  EXPECT_EQ(owner_->ask("cat user_events_status"), "stays\n\nActive: 1\nBusy: 0\n");
}

TEST_F(ShimRestartTest, ChildrenForkedBeforeBetweenAndAfterAreEnabledToo) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  ASSERT_EQ(program->ask("child 0 1"), "ok");  // of the first owner
  next_owner().ask("listen first");
  EXPECT_EQ(program->ask("join"), "0");
  owner_->ask("unlisten first");
  EXPECT_EQ(program->ask("word 0"), "0");
  kill_owner();
  ASSERT_EQ(program->ask("child 0 2"), "ok");  // of none
  owner_.emplace(socket_);
  owner_->ask("listen first");
  EXPECT_EQ(program->ask("join"), "0");
  EXPECT_EQ(owner_->ask("trace"), "first: n=0x2 (2)\n");
  EXPECT_EQ(program->ask("soon 0 3"), "ok");
  owner_->ask("unlisten first");
  ASSERT_EQ(program->ask("child 0 4"), "ok");  // of the second
  owner_->ask("listen first");
  EXPECT_EQ(program->ask("join"), "0");
  EXPECT_EQ(owner_->ask("count"), "3\n");
}

TEST_F(ShimRestartTest, AForkedChildTakesOverWhenItsParentEndedWithoutAnOwner) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  kill_owner();
  ASSERT_EQ(program->ask("fork"), "ok");
  owner_.emplace(socket_);
  owner_->ask("listen first");
  EXPECT_EQ(program->ask("await 0 1"), "ok");
  EXPECT_EQ(program->ask("soon 0 5"), "ok");
  EXPECT_EQ(owner_->ask("trace"), "first: n=0x5 (5)\n");
}

TEST_F(ShimRestartTest, WordsGivenUpWithoutAnOwnerAreLeftAlone) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  ASSERT_EQ(program->ask("reg second u32 n"), "1");
  kill_owner();
  EXPECT_EQ(program->ask("unreg 0"), "-19");
  EXPECT_EQ(program->ask("set 0 4294967295"), "ok");  // its memory is something else now
  owner_.emplace(socket_);
  EXPECT_EQ(program->ask("word 0"), "4294967295");
  owner_->ask("listen user_events:*");
  owner_->ask("unlisten user_events:*");
  EXPECT_EQ(program->ask("word 0"), "4294967295");
  EXPECT_EQ(program->ask("word 1"), "0");
}

TEST_F(ShimRestartTest, AProgramThatCalledExecIsNotTouched) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  kill_owner();
  ASSERT_EQ(program->ask("exec"), "no file");
  EXPECT_EQ(program->ask("set 0 4294967295"), "ok");
  owner_.emplace(socket_);
  EXPECT_EQ(program->ask("word 0"), "4294967295");
}

TEST_F(ShimRestartTest, DescriptorsKeepTheirNumbersAndFlags) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  EXPECT_EQ(program->ask("flags"), "1 1");
  next_owner().ask("listen first");
  EXPECT_EQ(ask_joined(*program, "emit 0 1"), "8");
  EXPECT_EQ(program->ask("flags"), "1 1");
  EXPECT_EQ(program->ask("move"), "0");
  next_owner().ask("listen first");
  EXPECT_EQ(ask_joined(*program, "emit 0 2"), "8");
  EXPECT_EQ(program->ask("flags"), "0 1");
}

TEST_F(ShimRestartTest, FilesOfTheNextOwnerCloseWithTheirLastDescriptor) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  next_owner().ask("listen first");
  EXPECT_EQ(ask_joined(*program, "emit 0 1"), "8");
  owner_->ask("unlisten first");
  EXPECT_EQ(program->ask("unreg 0"), "0");
  EXPECT_EQ(program->ask("close"), "0");
  EXPECT_TRUE(comes_true([&] { return owner_->ask("ls user_events") == "-ENOENT\n"; }));
}

TEST_F(ShimRestartTest, AfterAnOwnerThatEndedInGoodOrderProgramsAreTakenOverToo) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  owner_->ask("listen first");
  owner_->end();
  EXPECT_EQ(program->ask("word 0"), "0");
  EXPECT_EQ(program->ask("emit 0 1"), "-9");
  EXPECT_TRUE(std::filesystem::exists(state_));
  owner_.emplace(socket_);
  EXPECT_EQ(program->ask("word 0"), "0");
  owner_->ask("listen first");
  EXPECT_EQ(program->ask("word 0"), "1");
  ::usleep(30'000);  // a program that found nobody does not look again at once
  EXPECT_EQ(ask_joined(*program, "emit 0 2"), "8");
  EXPECT_EQ(owner_->ask("trace"), "first: n=0x2 (2)\n");
}

TEST_F(ShimRestartTest, AnOwnerThatEndsInGoodOrderLeavesNothingWhereNobodyIsLeft) {
  {
    const auto program = client();
    ASSERT_EQ(program->ask("reg first u32 n"), "0");
  }
  ASSERT_TRUE(comes_true([&] { return owner_->ask("ls user_events") == "-ENOENT\n"; }));
  owner_->end();
  for (const char* const end : {"", ".bits", ".bytes"}) EXPECT_FALSE(std::filesystem::exists(state_ + end)) << end;
}

TEST_F(ShimRestartTest, APageThatAProgramHasMappedFollowsTheNextOwner) {
  const auto program = client();
  ASSERT_EQ(program->ask("bit first u32 n"), "1");
  const std::string bit = program->ask("bit second u32 n");
  ASSERT_EQ(bit, "2");
  ASSERT_EQ(program->ask("map"), "ok");
  owner_->ask("listen second");
  EXPECT_EQ(program->ask("mapped 2"), "1");
  for (const bool killed : {true, false}) {
    killed ? owner_->kill() : owner_->end();
    owner_.emplace(socket_);
    EXPECT_EQ(program->ask("mapped 2"), "0");
    owner_->ask("listen second");
    EXPECT_EQ(program->ask("mapped 1"), "0");
    EXPECT_EQ(program->ask("mapped 2"), "1");
    EXPECT_EQ(program->ask("soon 1 7"), "ok");
    EXPECT_EQ(owner_->ask("trace"), "second: n=0x7 (7)\n");
    EXPECT_EQ(program->ask("bit second u32 n"), "2");
  }
}

TEST_F(ShimRestartTest, WithoutAJournalAProgramStartsAnewWithTheNextOwner) {
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  std::filesystem::remove(state_);
  next_owner(false);
  EXPECT_EQ(ask_joined(*program, "emit 0 1"), "-2");
  EXPECT_EQ(program->ask("reg first u32 n"), "0");
}

TEST_F(ShimRestartTest, ATornJournalCountsAsFarAsItIsWhole) {
  const auto program = client();
  for (int i = 0; i < 5; ++i) ASSERT_EQ(program->ask("reg e" + std::to_string(i) + " u32 n"), std::to_string(i));
  kill_owner();
  std::filesystem::resize_file(state_, std::filesystem::file_size(state_) - 3);
  owner_.emplace(socket_);
  EXPECT_THAT(owner_->ask("cat user_events_status"), HasSubstr("Active: 5\n"));
  owner_->ask("listen user_events:*");
  for (int i = 0; i < 4; ++i) EXPECT_EQ(program->ask("word " + std::to_string(i)), "1");
  EXPECT_EQ(program->ask("word 4"), "0");  // the last record
}

TEST_F(ShimRestartTest, GarbageIsNoJournal) {
  kill_owner();
  std::ofstream(state_, std::ios::trunc) << std::string(100'000, 'x');
  owner_.emplace(socket_);
  EXPECT_EQ(owner_->ask("ls user_events"), "-ENOENT\n");
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  next_owner().ask("listen first");
  EXPECT_EQ(ask_joined(*program, "emit 0 1"), "8");
}

TEST_F(ShimRestartTest, AnotherUsersJournalIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: needs root to give a file away";
  const auto program = client();
  ASSERT_EQ(program->ask("reg first u32 n"), "0");
  kill_owner();
  ASSERT_EQ(::chown(state_.c_str(), 65534, 65534), 0);
  owner_.emplace(socket_);
  EXPECT_EQ(owner_->ask("ls user_events"), "-ENOENT\n");
  kill_owner();
  struct stat st {};
  ASSERT_EQ(::stat(state_.c_str(), &st), 0);
  EXPECT_EQ(st.st_uid, ::geteuid());
  EXPECT_EQ(st.st_mode & 0777, 0600u);
  // One that others may write to, and a link.
  ASSERT_EQ(::chmod(state_.c_str(), 0620), 0);
  owner_.emplace(socket_);
  EXPECT_EQ(owner_->ask("ls user_events"), "-ENOENT\n");
}

}  // namespace
}  // namespace landtrace
