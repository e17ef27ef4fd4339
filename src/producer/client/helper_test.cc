#include "client/helper.hpp"

#include <dirent.h>
#include <landtrace/landtrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "client/event_list.hpp"
#include "client/fake_owner.hpp"

namespace landtrace::client {
namespace {

using ipc::Operation;

// The process's thread of that name, or "".
std::string find_helper() {
  const std::string threads = "/proc/self/task";
  DIR* const folder = ::opendir(threads.c_str());
  std::string found;
  while (const dirent* const entry = ::readdir(folder)) {
    std::string name;
    std::ifstream(threads + "/" + entry->d_name + "/comm") >> name;
    if (name == "landtrace") found = threads + "/" + entry->d_name;
  }
  ::closedir(folder);
  return found;
}
bool has_helper() { return !find_helper().empty(); }

std::string status_of(const std::string& thread, const std::string& line) {
  std::ifstream status(thread + "/status");
  for (std::string text; std::getline(status, text);) {
    if (text.starts_with(line + ":\t")) return text.substr(line.size() + 2);
  }
  return {};
}

class HelperTest : public ClientTest {
 protected:
  landtrace_event event_ = LANDTRACE_EVENT_INIT;

  void add() { ASSERT_EQ(landtrace_register(&event_, "done u32 id", 0), 0); }
  bool is_heard() const { return landtrace_enabled(&event_) != 0; }
  static void listen(FakeOwner& owner) { owner.domain().publish(kSlot, {owner.domain().record()}); }
};

TEST_F(HelperTest, ItIsThereFromTheFirstEventToTheLast) {
  in_child([&] {
    FakeOwner owner(path());
    EXPECT_FALSE(has_helper());
    add();
    EXPECT_TRUE(eventually(has_helper));
    landtrace_event other = LANDTRACE_EVENT_INIT;
    EXPECT_EQ(landtrace_register(&other, "other", 0), 0);
    EXPECT_EQ(landtrace_unregister(&event_), 0);
    EXPECT_TRUE(has_helper());
    EXPECT_EQ(landtrace_unregister(&other), 0);
    EXPECT_FALSE(has_helper());
    add();
    EXPECT_TRUE(eventually(has_helper));
  });
}

TEST_F(HelperTest, AllSignalsAreBlockedInItAndNoneInWhoMadeIt) {
  in_child([&] {
    FakeOwner owner(path());
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &some, nullptr);
    add();
    ASSERT_TRUE(eventually(has_helper));
    const std::uint64_t blocked = std::stoull(status_of(find_helper(), "SigBlk"), nullptr, 16);
    for (int signal = 1; signal < NSIG; ++signal) {
      const bool is_kernels = signal == SIGKILL || signal == SIGSTOP;
      const bool is_c_librarys = signal > SIGSYS && signal < SIGRTMIN;
      EXPECT_TRUE(is_kernels || is_c_librarys || (blocked & 1ull << (signal - 1)) != 0) << signal;
    }
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, nullptr, &now);
    EXPECT_EQ(sigismember(&now, SIGUSR1), 0);
    EXPECT_EQ(sigismember(&now, SIGUSR2), 1);
  });
}

TEST_F(HelperTest, ItCanBeSwitchedOffAndOn) {
  in_child([&] {
    FakeOwner owner(path());
    EXPECT_EQ(landtrace_helper(0), 0);
    add();
    EXPECT_FALSE(has_helper());
    EXPECT_EQ(landtrace_helper(1), 0);
    EXPECT_TRUE(eventually(has_helper));
    EXPECT_EQ(landtrace_helper(0), 0);
    EXPECT_FALSE(has_helper());
    EXPECT_EQ(landtrace_unregister(&event_), 0);
    EXPECT_EQ(landtrace_helper(1), 0);
    EXPECT_FALSE(has_helper());  // there is no event
  });
}

TEST_F(HelperTest, TheEnvironmentSwitchesItOffForGood) {
  for (const auto& [name, value] : {std::pair("LANDTRACE_HELPER", "0"), std::pair("LANDTRACE_BACKEND", "kernel")}) {
    in_child([&, name = name, value = value] {
      ::setenv(name, value, 1);
      FakeOwner owner(path());
      add();
      EXPECT_EQ(landtrace_helper(1), 0);
      ::usleep(10'000);
      EXPECT_FALSE(has_helper());
    });
  }
}

TEST_F(HelperTest, WithoutAnyOwnerItFindsTheFirstOne) {
  in_child([&] {
    add();
    EXPECT_EQ(landtrace_event_backend(&event_), LANDTRACE_NONE);
    FakeOwner owner(path());
    listen(owner);
    EXPECT_TRUE(eventually([&] { return is_heard(); }));
  });
}

TEST_F(HelperTest, WhatAnOwnerHasRefusedItIsAskedForAgain) {
  in_child([&] {
    FakeOwner owner(path());
    listen(owner);
    owner.answer(Operation::kRegisterNative, FakeAnswer::error(EADDRINUSE));
    EXPECT_EQ(landtrace_register(&event_, "done u32 id", LANDTRACE_RETRY), -EADDRINUSE);
    ASSERT_TRUE(eventually([&] { return owner.connections() == 2; }));
    owner.answer(Operation::kRegisterNative, [&](const Asked& one) { return owner.by_itself(one); });
    EXPECT_TRUE(eventually([&] { return is_heard(); }));
  });
}

TEST_F(HelperTest, WhatIsRefusedWhenItSleepsIsAskedForAgainAndTheOthersStay) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    add();
    ASSERT_TRUE(eventually([&] { return first->connections() == 2; }));
    first->die();
    // Now the helper's connection holds the event.
    FakeOwner second(path());
    listen(second);
    ASSERT_TRUE(eventually([&] { return is_heard(); }));
    landtrace_event other = LANDTRACE_EVENT_INIT;
    second.answer(Operation::kRegisterNative, [&](const Asked& one) {
      return one.text == "other" ? FakeAnswer::error(ENOSPC) : second.by_itself(one);
    });
    ASSERT_TRUE(eventually([&] {
      const ListLocked list;
      return helper::waits_for_good();
    }));
    EXPECT_EQ(landtrace_register(&other, "other", LANDTRACE_RETRY), -ENOSPC);
    EXPECT_TRUE(has_helper());
    ASSERT_TRUE(eventually([&] {
      const auto asked = second.asked(Operation::kRegisterNative);
      const auto is = [](const char* text) { return [text](const Asked& one) { return one.text == text; }; };
      const auto refused = std::find_if(asked.begin(), asked.end(), is("other"));
      return std::find_if(refused, asked.end(), is("done u32 id")) != asked.end();
    }));
    second.answer(Operation::kRegisterNative, [&](const Asked& one) { return second.by_itself(one); });
    EXPECT_TRUE(eventually([&] {
      const ListLocked list;
      return helper::waits_for_good();
    }));
    EXPECT_EQ(landtrace_event_backend(&other), LANDTRACE_DOMAIN);
    EXPECT_TRUE(is_heard());
  });
}

TEST_F(HelperTest, WhenTheOwnerDiesEventsFallSilentAndTheNextOwnerHasThem) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    listen(*first);
    add();
    EXPECT_TRUE(is_heard());
    ASSERT_TRUE(eventually([&] { return first->connections() == 2; }));
    first->die();
    EXPECT_TRUE(eventually([&] { return !is_heard(); }));
    FakeOwner second(path());
    listen(second);
    EXPECT_TRUE(eventually([&] { return is_heard(); }));
    // The connection by which the helper waits for the owner's end holds the events.
    const auto registered = second.asked(Operation::kRegisterNative);
    ASSERT_EQ(registered.size(), 1u);
    EXPECT_EQ(registered[0].connection, second.asked(Operation::kAttach)[0].connection);
  });
}

TEST_F(HelperTest, AProgramThatClosesAllItsDescriptorsDoesNotCloseTheHelpers) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    listen(*first);
    add();
    ASSERT_TRUE(eventually([&] { return first->connections() == 2; }));
    ::syscall(SYS_close_range, 3u, UINT_MAX, 0u);
    ASSERT_TRUE(eventually([&] { return first->connections() == 1; }));
    first->die();
    EXPECT_TRUE(eventually([&] { return !is_heard(); }));
    FakeOwner second(path());
    listen(second);
    EXPECT_TRUE(eventually([&] { return is_heard(); }));
  });
}

TEST_F(HelperTest, AForkedChildHasOneOfItsOwnThatHoldsItsEvents) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    listen(*first);
    add();
    ASSERT_TRUE(eventually(has_helper));
    int from_child[2];
    ASSERT_EQ(::pipe(from_child), 0);
    char byte = 0;
    const pid_t child = ::fork();
    if (child == 0) {
      EXPECT_TRUE(eventually(has_helper));
      EXPECT_TRUE(is_heard());
      EXPECT_EQ(::write(from_child[1], &byte, 1), 1);
      std::fflush(nullptr);
      ::_exit(HasFailure() || !eventually([&] { return !is_heard(); }) ? 1 : 0);
    }
    const auto holds_child = [&] {
      const auto registered = first->asked(Operation::kRegisterNative);
      return !registered.empty() && registered.back().pid == static_cast<std::uint32_t>(child);
    };
    EXPECT_TRUE(eventually(holds_child));
    EXPECT_EQ(::read(from_child[0], &byte, 1), 1);
    first->die();
    int status = -1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  });
}

TEST_F(HelperTest, AnOwnerThatSendsItAwayMayGiveWayToAnother) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    first->answer(Operation::kAttach, FakeAnswer::error(EPERM));
    add();
    EXPECT_TRUE(eventually([&] { return first->asked(Operation::kAttach).size() >= 2; }));
    first->die();
    FakeOwner second(path());
    listen(second);
    EXPECT_TRUE(eventually([&] { return is_heard(); }));
  });
}

TEST_F(HelperTest, OneThatWaitsForAnOwnerEndsAtOnce) {
  in_child([&] {
    add();
    EXPECT_TRUE(eventually(has_helper));
    EXPECT_EQ(landtrace_unregister(&event_), 0);
    EXPECT_FALSE(has_helper());
  });
}

}  // namespace
}  // namespace landtrace::client
