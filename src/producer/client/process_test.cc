#include "client/process.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/test_memory_child.hpp"
#include "client/fake_owner.hpp"

namespace landtrace::client {
namespace {

using ipc::Operation;
using Kind = FakeAnswer::Kind;

constexpr std::uint32_t kEvent = plan::kFirstEventSlot;
constexpr ipc::Request kDelete{.operation = Operation::kDelete};

std::uint32_t own_pid() { return static_cast<std::uint32_t>(::getpid()); }
std::uint32_t own_tid() { return static_cast<std::uint32_t>(::syscall(SYS_gettid)); }

int exit_code(pid_t child) {
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
// Runs the body in a child of the process, which has its memory.
int forked(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_good = body() && !testing::Test::HasFailure();
    std::fflush(nullptr);
    ::_exit(is_good ? 0 : 1);
  }
  return exit_code(child);
}

// Once an orphan looks for an owner again.
bool joins() {
  return eventually([] { return Process::get().join_next_owner(); });
}

// How many descriptors the process has room for without a larger table.
int table_of_descriptors() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("FDSize:")) return std::stoi(line.substr(7));
  }
  return -1;
}

class ProcessTest : public ClientTest {};

// -- attaching --------------------------------------------------------------------------------------------------------
TEST_F(ProcessTest, AProcessAttachesOnceToTheDomainThatIsNamed) {
  in_child([&] {
    FakeOwner owner(path());
    EXPECT_FALSE(Process::is_attached());
    EXPECT_EQ(Process::place(), nullptr);
    EXPECT_TRUE(Process::get().attach());
    EXPECT_TRUE(Process::get().attach());
    EXPECT_TRUE(Process::is_attached());
    EXPECT_FALSE(Process::is_orphaned());
    EXPECT_EQ(owner.asked(Operation::kAttach).size(), 1u);
    EXPECT_EQ(Process::get().socket_path(), path());
    Process::view().data->slotless = 9;
    EXPECT_EQ(owner.domain().data().slotless, 9u);
  });
}

TEST_F(ProcessTest, WithoutAnOwnerThereIsNoDomain) {
  in_child([] {
    EXPECT_FALSE(Process::get().attach());
    EXPECT_FALSE(Process::is_attached());
    EXPECT_FALSE(Process::is_orphaned());
    EXPECT_EQ(Process::place(), nullptr);
    EXPECT_EQ(Process::get().control_fd(), -1);
    EXPECT_EQ(Process::get().ask(kDelete).error().code, ENOENT);
  });
}

TEST_F(ProcessTest, AnotherUsersOwnerIsNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: only root can be somebody else";
  in_child([&] {
    constexpr std::uint32_t kStranger = 12'345;
    FakeOwner owner(path(), kStranger);
    EXPECT_FALSE(Process::get().attach());
    EXPECT_TRUE(owner.asked().empty());
    EXPECT_EQ(Process::get().ask(kDelete).error().code, EPERM);
  });
}

TEST_F(ProcessTest, RootsOwnerIsTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "SKIPPED: only root can be somebody else";
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_EQ(::setuid(12'345), 0);
    EXPECT_TRUE(Process::get().attach());
  });
}

TEST_F(ProcessTest, ASocketOfTooLongANameIsNone) {
  in_child([] {
    ::setenv("LANDTRACE_SOCKET", std::string(108, 'x').c_str(), 1);
    EXPECT_FALSE(Process::get().attach());
    EXPECT_STREQ(Process::get().socket_path(), "");
    ::setenv("LANDTRACE_SOCKET", std::string(107, 'x').c_str(), 1);
    EXPECT_FALSE(Process::get().attach());
    char found[108];
    Process::get().copy_socket_path(found);
    EXPECT_EQ(found, std::string(107, 'x'));
  });
}

TEST_F(ProcessTest, WhatIsNoDomainIsNotAttachedTo) {
  in_child([&] {
    FakeOwner owner(path());
    for (const FakeAnswer& bad : {FakeAnswer::number(plan::kMaxUsers), FakeAnswer::error(EPERM),
                                  FakeAnswer::of(Kind::kGarbage), FakeAnswer::of(Kind::kHangUp)}) {
      owner.answer(Operation::kAttach, bad);
      EXPECT_FALSE(Process::get().attach());
      EXPECT_EQ(Process::get().control_fd(), -1);
    }
    owner.answer(Operation::kAttach, [&](const Asked& asked) { return owner.by_itself(asked); });
    EXPECT_TRUE(Process::get().attach());
  });
}

// -- a thread's place -------------------------------------------------------------------------------------------------
TEST_F(ProcessTest, AThreadFindsItsPlaceOnce) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    const Place* const place = Process::place();
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(Process::place(), place);
    EXPECT_EQ(place->thread.tid, own_tid());
    EXPECT_EQ(place->thread.claim, own_tid());
    EXPECT_FALSE(place->thread.is_proxy);
    EXPECT_EQ(place->thread.slot->pid, own_pid());
    EXPECT_EQ(place->view.data, Process::view().data);
    const plan::ThreadSlot* other = nullptr;
    std::thread([&] { other = Process::place()->thread.slot; }).join();
    EXPECT_EQ(other, place->thread.slot + 1);
  });
}

TEST_F(ProcessTest, TheWriterIsTheRestartableOneUnlessItIsToldOrCannot) {
  if (!arch::rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here";
  const auto area_with = [&](arch::RawClock clock) {
    FakeOwner owner(path());
    owner.domain().control().raw_clock = static_cast<std::uint32_t>(clock);
    EXPECT_TRUE(Process::get().attach());
    EXPECT_EQ(Process::place()->thread.mode.clock, clock);
    return Process::place()->thread.mode.area;
  };
  in_child([&] { EXPECT_EQ(area_with(arch::RawClock::kTsc), arch::rseq_area()); });
  in_child([&] { EXPECT_EQ(area_with(arch::RawClock::kMonotonic), nullptr); });
  in_child([&] {
    ::setenv("LANDTRACE_WRITER", "portable", 1);
    EXPECT_EQ(area_with(arch::RawClock::kTsc), nullptr);
  });
  in_child([&] {
    ::setenv("LANDTRACE_WRITER", "other", 1);
    EXPECT_NE(area_with(arch::RawClock::kTsc), nullptr);
  });
}

TEST_F(ProcessTest, AThreadWithoutTheTimeStampCounterHasThePortableWriter) {
#if defined(__x86_64__)
  in_child([&] {
    FakeOwner owner(path());
    owner.domain().control().raw_clock = static_cast<std::uint32_t>(arch::RawClock::kTsc);
    ASSERT_TRUE(Process::get().attach());
    std::thread([] {
      ASSERT_EQ(::prctl(PR_SET_TSC, PR_TSC_SIGSEGV), 0);
      EXPECT_EQ(Process::place()->thread.mode.area, nullptr);
      EXPECT_EQ(arch::time_source, arch::TimeSource::kCalls);
    }).join();
    EXPECT_EQ(Process::place()->thread.mode.area, arch::rseq_area());
    Process::set_time_source(arch::TimeSource::kMemory);
    EXPECT_EQ(Process::place()->thread.mode.area, nullptr);
  });
#endif
}

// A call would end it.
TEST_F(ProcessTest, AThreadThatMayMakeNoCallsLooksForNoPlaceAndNoOwner) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    ASSERT_TRUE(Process::get().attach());
    Process::set_time_source(arch::TimeSource::kMemory);
    EXPECT_EQ(Process::place(), nullptr);
    EXPECT_EQ(first->domain().data().slotless, 1u);
    first->die();
    FakeOwner second(path());
    EXPECT_FALSE(Process::get().join_next_owner());
    EXPECT_TRUE(second.asked().empty());
    Process::set_time_source(arch::TimeSource::kCounter);
    EXPECT_TRUE(joins());
  });
}

TEST_F(ProcessTest, ThreadsOfAProcessThatTakesPartInTheBarriersAreNotFlagged) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    owner.domain().data().threads[0].unregistered = 1;  // of whoever had it before
    EXPECT_EQ(Process::place()->thread.slot->unregistered, 0u);
  });
}

TEST_F(ProcessTest, OfAnOwnerInAnotherPidNamespaceIdsMeanNothing) {
  in_child([&] {
    FakeOwner owner(path());
    owner.answer(Operation::kAttach, [&](const Asked& asked) {
      FakeAnswer answer = owner.by_itself(asked);
      answer.reply.c += 1;
      return answer;
    });
    ASSERT_TRUE(Process::get().attach());
    const Place* const place = Process::place();
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(place->thread.slot->pid, 0u);
    EXPECT_EQ(place->thread.claim, own_tid() | plan::kForeignClaim);
  });
}

TEST_F(ProcessTest, AThreadThatFindsNoPlaceLooksAgainAfterManyEventsAndAllAreCounted) {
  in_child([&] {
    FakeOwner owner(path());
    plan::DataSegment& data = owner.domain().data();
    for (plan::ThreadSlot& slot : data.threads) slot = {.section = 0, .tid = own_tid(), .pid = own_pid()};
    ASSERT_TRUE(Process::get().attach());
    errno = EDOM;
    EXPECT_EQ(Process::place(), nullptr);
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(data.slotless, 1u);
    data.threads[5].tid = 0;
    std::uint64_t lost = 1;
    while (Process::place() == nullptr) ++lost;
    EXPECT_EQ(lost, 1u + 4096);
    EXPECT_EQ(data.slotless, lost);
    EXPECT_EQ(Process::place()->thread.slot, &Process::view().data->threads[5]);
  });
}

// -- fork -------------------------------------------------------------------------------------------------------------
TEST_F(ProcessTest, AForkedChildHasAPlaceAndAConnectionOfItsOwn) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    const plan::ThreadSlot* const parents = Process::place()->thread.slot;
    const int in_child = forked([&] {
      EXPECT_TRUE(Process::is_attached());
      EXPECT_EQ(Process::get().control_fd(), -1);
      EXPECT_NE(Process::place()->thread.slot, parents);
      EXPECT_EQ(Process::place()->thread.slot->pid, own_pid());
      EXPECT_TRUE(Process::get().ask(kDelete).has_value());
      return Process::get().control_fd() >= 0;
    });
    EXPECT_EQ(in_child, 0);
    const auto asked = owner.asked(Operation::kDelete);
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_NE(asked[0].connection, owner.asked(Operation::kAttach)[0].connection);
    EXPECT_EQ(owner.asked(Operation::kAttach).size(), 1u);  // an owner that lives is not met again
    EXPECT_EQ(Process::place()->thread.slot, parents);
  });
}

TEST_F(ProcessTest, AfterForkTheChildMayBePreparedBeforeItsFirstEvent) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    EXPECT_FALSE(Process::get().is_other_process(own_pid()));
    EXPECT_EQ(forked([] {
                Process::get().after_fork();
                return !Process::get().is_other_process(own_pid());
              }),
              0);
  });
}

// What such a child did to the connection or the places would be done to its parent's.
TEST_F(ProcessTest, AVforkChildIsAnotherProcessWithTheSameMemory) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    const pid_t child = ::vfork();
    if (child == 0) ::_exit(Process::get().is_other_process(static_cast<std::uint32_t>(::getpid())) ? 0 : 1);
    EXPECT_EQ(exit_code(child), 0);
    EXPECT_FALSE(Process::get().is_other_process(own_pid()));
  });
}

TEST_F(ProcessTest, AProcessThatHasNotAttachedMayBeKnownByWhatItNotes) {
  in_child([] {
    Process& process = Process::get();
    const auto is_other = [&] { return process.is_other_process(own_pid()); };
    EXPECT_FALSE(run_in_memory_child(is_other)) << "nobody has said whose memory it is";
    process.note_process();
    EXPECT_FALSE(is_other());
    EXPECT_TRUE(run_in_memory_child(is_other));
    EXPECT_EQ(forked([&] {
                process.after_fork();
                return !is_other() && run_in_memory_child(is_other);
              }),
              0);
  });
}

// Its thread's memory is that of the parent's thread, but it is another one.
TEST_F(ProcessTest, AVforkChildThatIsTheFirstToFindAPlaceHasItForItself) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    const Place* childs = nullptr;
    EXPECT_TRUE(run_in_memory_child([&] {
      childs = Process::place();
      return Process::place() == childs && childs->thread.tid == own_tid() && childs->thread.slot->pid == own_pid() &&
             childs->thread.slot->tid == own_tid();
    }));
    ASSERT_NE(childs, nullptr);
    const Place* const place = Process::place();
    EXPECT_EQ(place->thread.tid, own_tid());
    EXPECT_EQ(place->thread.slot->tid, own_tid());
    EXPECT_NE(place->thread.slot, childs->thread.slot);
    EXPECT_EQ(childs->thread.mode.area, nullptr) << "the kernel knows the area as the parent's";
    EXPECT_EQ(Process::place(), place);
  });
}

TEST_F(ProcessTest, AVforkChildThatIsExpectedHasAPlaceOfItsOwnAndTheThreadHasItsOwnAgain) {
  if (!arch::rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here";
  in_child([&] {
    FakeOwner owner(path());
    owner.domain().control().raw_clock = static_cast<std::uint32_t>(arch::RawClock::kTsc);
    ASSERT_TRUE(Process::get().attach());
    const Place* const place = Process::place();
    const plan::ThreadSlot* slots[2] = {};
    for (const plan::ThreadSlot*& slot : slots) {
      Process::expect_child();
      EXPECT_EQ(Process::place(), place) << "an event before there is a child";
      EXPECT_TRUE(run_in_memory_child([&] {
        const Place* const childs = Process::place();
        slot = childs->thread.slot;
        return childs != place && childs->thread.tid == own_tid() && childs->thread.mode.area == nullptr &&
               Process::place() == childs;
      }));
      EXPECT_EQ(Process::place(), place);
      EXPECT_FALSE(Process::has_place());
      EXPECT_TRUE(run_in_memory_child([&] {
        Process::child_is_gone();  // the child's own
        return !Process::has_place();
      }));
      Process::child_is_gone();
      EXPECT_TRUE(Process::has_place());
      EXPECT_EQ(Process::place(), place);
      EXPECT_EQ(place->thread.tid, own_tid());
      EXPECT_EQ(place->thread.mode.area, arch::rseq_area());
    }
    EXPECT_NE(slots[1]->tid, 0u);
    Process::expect_child();
    EXPECT_EQ(slots[0]->tid, 0u) << "a child's slot is free when the next one comes";
    EXPECT_EQ(slots[1]->tid, 0u);
    EXPECT_EQ(Process::place(), place);
  });
}

// As another thread called exec(), and the main one was in the middle of an event.
TEST_F(ProcessTest, WhoAttachesFirstLeavesTheEventThatItsProcessWasInBeforeExec) {
  in_child([&] {
    FakeOwner owner(path());
    plan::DataSegment& data = owner.domain().data();
    data.threads[0] = {.section = 1, .tid = own_tid(), .pid = own_pid(), .program = 2};
    data.thread_high = 1;
    ASSERT_TRUE(Process::get().attach());
    EXPECT_EQ(data.threads[0].tid, 0u);
    EXPECT_EQ(data.threads[0].section & plan::kDepthMask, 0u);
    const Place* const place = Process::place();
    ASSERT_NE(place, nullptr);
    EXPECT_GT(place->thread.slot->program, 2u);
  });
}

TEST_F(ProcessTest, AChildThatFindsNoPlaceSilencesNobodyElse) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    const Place* const place = Process::place();
    ASSERT_NE(place, nullptr);
    for (plan::ThreadSlot& slot : place->view.data->threads) {
      if (slot.tid == 0) slot.tid = slot.pid = 1;  // which lives
    }
    Process::expect_child();
    EXPECT_TRUE(run_in_memory_child([] { return Process::place() == nullptr; }));
    EXPECT_EQ(Process::place(), place);
  });
}

thread_local sigjmp_buf before_search;

// One that came in the middle of the search would leave the thread without a place.
TEST_F(ProcessTest, AHandlerThatDoesNotComeBackTakesNoThreadItsPlace) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    std::signal(SIGUSR1, [](int) { siglongjmp(before_search, 1); });
    constexpr int kThreads = 300;
    constexpr long kLongest_ns = 30'000;
    for (int i = 0; i < kThreads; ++i) {
      std::thread([i] {
        sigevent to_thread{};
        to_thread.sigev_notify = SIGEV_THREAD_ID;
        to_thread.sigev_signo = SIGUSR1;
        to_thread._sigev_un._tid = static_cast<pid_t>(own_tid());
        timer_t timer{};
        ASSERT_EQ(::timer_create(CLOCK_MONOTONIC, &to_thread, &timer), 0);
        if (sigsetjmp(before_search, 1) == 0) {
          const itimerspec soon{{}, {0, 1 + i * kLongest_ns / kThreads}};
          ASSERT_EQ(::timer_settime(timer, 0, &soon, nullptr), 0);
          Process::place();
          for (;;) ::pause();
        }
        EXPECT_NE(Process::place(), nullptr) << i;
        ::timer_delete(timer);
      }).join();
    }
  });
}

// By now it may be the slot of a thread that lives, of the program that the child has become.
TEST_F(ProcessTest, AForkedChildLeavesTheSlotsOfItsParentsChildrenAlone) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    ASSERT_NE(Process::place(), nullptr);
    Process::expect_child();
    const plan::ThreadSlot* slot = nullptr;
    EXPECT_TRUE(run_in_memory_child([&] {
      slot = Process::place()->thread.slot;
      return true;
    }));
    Process::child_is_gone();
    const std::uint32_t tid = slot->tid;
    EXPECT_NE(tid, 0u);
    EXPECT_EQ(forked([&] {
                Process::expect_child();
                EXPECT_EQ(slot->tid, tid);
                return run_in_memory_child([&] { return Process::place()->thread.slot != slot; });
              }),
              0);
    EXPECT_EQ(slot->tid, tid);
    Process::expect_child();
    EXPECT_EQ(slot->tid, 0u);
  });
}

// The hit of a probe on posix_spawn() itself may be the thread's first event.
TEST_F(ProcessTest, AChildIsStillExpectedWhenTheThreadHasFoundItsFirstPlaceOrItsNext) {
  if (!arch::rseq_usable()) GTEST_SKIP() << "SKIPPED: no restartable sequences here";
  const auto expect_place_of_its_own = [](const Place* parents) {
    EXPECT_FALSE(Process::has_place());
    EXPECT_EQ(parents->thread.mode.area, arch::rseq_area());
    EXPECT_TRUE(run_in_memory_child([&] {
      const Place* const childs = Process::place();
      return childs != parents && childs->thread.tid == own_tid() && childs->thread.mode.area == nullptr;
    }));
    EXPECT_EQ(Process::place(), parents);
  };
  in_child([&] {
    std::optional<FakeOwner> first(path());
    first->domain().control().raw_clock = static_cast<std::uint32_t>(arch::RawClock::kTsc);
    ASSERT_TRUE(Process::get().attach());
    Process::expect_child();
    expect_place_of_its_own(Process::place());
    EXPECT_EQ(forked([&] {
                expect_place_of_its_own(Process::place());
                Process::child_is_gone();
                return Process::has_place();
              }),
              0);
    first->die();
    FakeOwner second(path());
    second.domain().control().raw_clock = static_cast<std::uint32_t>(arch::RawClock::kTsc);
    ASSERT_TRUE(joins());
    expect_place_of_its_own(Process::place());
    Process::child_is_gone();
    EXPECT_TRUE(Process::has_place());
  });
}

TEST_F(ProcessTest, AThreadsFirstEventCountsAmongThoseBeforeItIsTakenToBeBack) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    Process::expect_child(2);
    for (int i = 0; i < 2; ++i) {
      EXPECT_NE(Process::place(), nullptr);
      EXPECT_FALSE(Process::has_place());
    }
    EXPECT_NE(Process::place(), nullptr);
    EXPECT_TRUE(Process::has_place());
  });
}

// Of the calling thread, from the next prctl() on.
bool is_killed_by_prctl() {
  constexpr auto kData = BPF_LD | BPF_W | BPF_ABS;
  sock_filter code[] = {{kData, 0, 0, offsetof(seccomp_data, nr)},
                        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_prctl},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter = {static_cast<unsigned short>(std::size(code)), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// A filter of system calls may do it, or anybody.
TEST_F(ProcessTest, AVforkChildThatIsKilledWhileItLooksForAPlaceDoesNotKeepTheThreadFromIts) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    bool was_filtered = false;
    const Place* const none = Process::current()->places;
    const Place* childs = none;
    EXPECT_FALSE(run_in_memory_child([&] {
      was_filtered = is_killed_by_prctl();
      childs = Process::place();
      return true;
    }));
    EXPECT_TRUE(was_filtered);
    EXPECT_EQ(childs, none) << "it was killed in the search";
    EXPECT_NE(Process::place(), nullptr);
    EXPECT_EQ(owner.domain().data().slotless, 0u);
  });
}

TEST_F(ProcessTest, AThreadIsTakenToBeBackAfterSoManyEventsOfItsOwn) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    const Place* const place = Process::place();
    Process::expect_child(2);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(Process::place(), place);
      EXPECT_FALSE(Process::has_place());
    }
    EXPECT_EQ(Process::place(), place);
    EXPECT_TRUE(Process::has_place());
  });
}

// A child that was forked past all handlers and has not had an event yet.
TEST_F(ProcessTest, AChildThatExpectsAChildIsNotTakenForIt) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    ASSERT_NE(Process::place(), nullptr);
    const int in_child = forked([&] {
      Process::expect_child();
      EXPECT_TRUE(run_in_memory_child([&] { return Process::place()->thread.slot->pid == own_pid(); }));
      EXPECT_EQ(Process::place()->thread.slot->pid, own_pid());
      EXPECT_FALSE(Process::get().is_other_process(own_pid()));
      return true;
    });
    EXPECT_EQ(in_child, 0);
  });
}

// -- the connection ---------------------------------------------------------------------------------------------------
// The fake owner is a thread of this process: a larger table would keep it waiting.
TEST_F(ProcessTest, TheConnectionIsOutOfTheWayAsFarAsTheTableOfDescriptorsGoesAndClosedByExec) {
  in_child([&] {
    FakeOwner owner(path());
    const int room = table_of_descriptors();
    ASSERT_TRUE(Process::get().attach());
    const int fd = Process::get().control_fd();
    EXPECT_GE(fd, 60);
    EXPECT_EQ(table_of_descriptors(), room);
    EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_TRUE(Process::get().may_be_control_fd(fd));
    EXPECT_FALSE(Process::get().may_be_control_fd(fd + 1));
    EXPECT_FALSE(Process::get().may_be_control_fd(-1));
  });
}

TEST_F(ProcessTest, WithFewDescriptorsItIsAsFarOutOfTheWayAsTheyLet) {
  in_child([&] {
    const rlimit few{100, 100};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    EXPECT_GE(Process::get().control_fd(), 60);
  });
}

TEST_F(ProcessTest, ADescriptorThatTheProgramHasPutInItsPlaceIsTheProgramsOwn) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    const int fd = Process::get().control_fd();
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::dup2(ends[1], fd), fd);
    EXPECT_EQ(Process::get().control_fd(), -1);
    EXPECT_TRUE(Process::get().ask(kDelete).has_value());
    EXPECT_NE(Process::get().control_fd(), fd);
    EXPECT_GE(Process::get().control_fd(), 0);
    EXPECT_EQ(::write(fd, "x", 1), 1);
  });
}

// -- asking -----------------------------------------------------------------------------------------------------------
TEST_F(ProcessTest, TheOwnersAnswerIsGivenWithItsSentence) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    owner.answer(Operation::kRegister, FakeAnswer::number(1, 2, 3));
    owner.answer(Operation::kDelete, FakeAnswer::error(EBUSY, "somebody holds it"));
    const auto answer = Process::get().ask({.operation = Operation::kRegister, .d = 5}, "name u32 a");
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(answer->reply.a, 1u);
    EXPECT_EQ(answer->reply.c, 3u);
    const auto asked = owner.asked(Operation::kRegister);
    ASSERT_EQ(asked.size(), 1u);
    EXPECT_EQ(asked[0].text, "name u32 a");
    EXPECT_EQ(asked[0].request.d, 5u);
    const auto refused = Process::get().ask(kDelete);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, EBUSY);
    EXPECT_EQ(refused.error().message, "somebody holds it");
    EXPECT_EQ(Process::get().ask_plain(kDelete).error, EBUSY);
    EXPECT_EQ(Process::get().ask_plain({.operation = Operation::kRegister}).reply.b, 2u);
    EXPECT_EQ(owner.asked(Operation::kAttach).size(), 1u);
  });
}

TEST_F(ProcessTest, AConnectionThatEndsIsMadeOnceMore) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    int calls = 0;
    const auto every_other = [&](const Asked&) {
      return calls++ % 2 == 0 ? FakeAnswer::of(Kind::kHangUp) : FakeAnswer::number(4);
    };
    owner.answer(Operation::kDelete, every_other);
    EXPECT_TRUE(Process::get().ask(kDelete).has_value());
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(Process::get().ask_plain(kDelete).reply.a, 4u);
    EXPECT_EQ(calls, 4);
    owner.answer(Operation::kDelete, FakeAnswer::of(Kind::kHangUp));
    EXPECT_EQ(Process::get().ask(kDelete).error().code, EPIPE);
    EXPECT_EQ(Process::get().ask_plain(kDelete).error, EPIPE);
    EXPECT_EQ(owner.asked(Operation::kDelete).size(), 4u + 2 + 2);
  });
}

TEST_F(ProcessTest, AnOwnerThatDoesNotAnswerIsLeftAloneForAWhile) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    owner.answer(Operation::kDelete, FakeAnswer::of(Kind::kSilence));
    EXPECT_EQ(Process::get().ask(kDelete).error().code, ETIMEDOUT);
    EXPECT_EQ(Process::get().control_fd(), -1);  // an answer may still come there
    EXPECT_EQ(Process::get().ask(kDelete).error().code, ETIMEDOUT);
    EXPECT_EQ(Process::get().ask_plain(kDelete).error, ETIMEDOUT);
    EXPECT_EQ(owner.asked(Operation::kDelete).size(), 1u);
  });
}

// A handler that asked, too, would wait for ever.
TEST_F(ProcessTest, NoSignalInterruptsAThreadThatAsks) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    static volatile std::sig_atomic_t handled = 0;
    std::signal(SIGUSR1, [](int) { handled = 1; });
    const pthread_t asking = pthread_self();
    std::sig_atomic_t handled_meanwhile = 0;
    owner.answer(Operation::kDelete, [&](const Asked&) {
      pthread_kill(asking, SIGUSR1);
      ::usleep(20'000);
      handled_meanwhile = handled;
      return FakeAnswer();
    });
    EXPECT_TRUE(Process::get().ask(kDelete).has_value());
    EXPECT_EQ(handled_meanwhile, 0);
    EXPECT_EQ(handled, 1);
  });
}

TEST_F(ProcessTest, AThreadWithDescriptorsOfItsOwnAsksByAConnectionOfItsOwn) {
  in_child([&] {
    FakeOwner owner(path());
    ASSERT_TRUE(Process::get().attach());
    const int connection = Process::get().control_fd();
    constexpr ipc::Request kAbout{.operation = Operation::kAbout};
    std::thread([&] {
      ASSERT_EQ(::unshare(CLONE_FILES), 0);
      ::closefrom(0);
      Process::be_apart(true);
      EXPECT_EQ(Process::get().control_fd(), -1);
      for (int i = 0; i < 2; ++i) EXPECT_EQ(Process::get().ask_plain(kAbout).error, 0);
      EXPECT_GE(Process::get().control_fd(), 0);
    }).join();
    EXPECT_EQ(Process::get().control_fd(), connection);
    EXPECT_EQ(Process::get().ask_plain(kAbout).error, 0);
    const std::vector<Asked> asked = owner.asked(Operation::kAbout);
    ASSERT_EQ(asked.size(), 3u);
    EXPECT_EQ(asked[0].connection, asked[1].connection);
    EXPECT_NE(asked[0].connection, asked[2].connection);
    EXPECT_EQ(asked[2].connection, owner.asked(Operation::kAttach)[0].connection);
  });
}

// -- the next owner ---------------------------------------------------------------------------------------------------
std::uint32_t pid_for_next_owner = 0;

TEST_F(ProcessTest, AnOrphanJoinsTheNextOwnerAndItsThreadsFindNewPlaces) {
  in_child([&] {
    Process& process = Process::get();
    process.set_on_next_owner([](std::uint32_t pid) { pid_for_next_owner = pid; });
    std::optional<FakeOwner> first(path());
    ASSERT_TRUE(process.attach());
    const Attachment* const before = Process::current();
    const Place* const old = Process::place();
    EXPECT_TRUE(process.join_next_owner());
    EXPECT_EQ(Process::current(), before);
    first->die();
    EXPECT_TRUE(Process::is_orphaned());
    EXPECT_FALSE(process.join_next_owner());
    EXPECT_EQ(Process::place(), old);
    FakeOwner second(path());
    ASSERT_TRUE(joins());
    EXPECT_FALSE(Process::is_orphaned());
    EXPECT_NE(Process::current(), before);
    EXPECT_EQ(Process::current()->before, before);
    EXPECT_EQ(pid_for_next_owner, own_pid());
    EXPECT_NE(Process::place(), old);
    EXPECT_EQ(Process::place()->view.data, Process::view().data);
    EXPECT_EQ(second.domain().data().threads[0].tid, own_tid());
  });
}

TEST_F(ProcessTest, OfManyOwnersOnlyTheLastTwoKeepMemory) {
  in_child([&] {
    std::optional<FakeOwner> owner(path());
    ASSERT_TRUE(Process::get().attach());
    const plan::View first = Process::view();
    first.data->slotless = 5;
    for (int i = 0; i < 2; ++i) {
      owner->die();
      owner.emplace(path());
      ASSERT_TRUE(joins());
      EXPECT_EQ(first.data->slotless, i == 0 ? 5u : 0u);
    }
  });
}

TEST_F(ProcessTest, AskingJoinsTheNextOwner) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    ASSERT_TRUE(Process::get().attach());
    first->die();
    EXPECT_FALSE(Process::get().ask(kDelete).has_value());
    FakeOwner second(path());
    EXPECT_TRUE(Process::get().ask(kDelete).has_value());
    EXPECT_FALSE(Process::is_orphaned());
    EXPECT_EQ(second.asked(Operation::kAttach).size(), 1u);
  });
}

TEST_F(ProcessTest, ThePlaceToLookAtStaysWhatItWas) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    ASSERT_TRUE(Process::get().attach());
    first->die();
    ::setenv("LANDTRACE_SOCKET", (folder() + "/elsewhere").c_str(), 1);
    FakeOwner second(path());
    EXPECT_TRUE(joins());
  });
}

TEST_F(ProcessTest, AnOrphanLooksForAnOwnerOnlyNowAndThen) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    ASSERT_TRUE(Process::get().attach());
    first->die();
    FakeOwner second(path());
    second.answer(Operation::kAttach, FakeAnswer::error(EPERM));
    for (int i = 0; i < 1000; ++i) EXPECT_FALSE(Process::get().join_next_owner());
    EXPECT_TRUE(eventually([&] { return !second.asked(Operation::kAttach).empty(); }));
    EXPECT_LT(second.asked(Operation::kAttach).size(), 100u);
  });
}

TEST_F(ProcessTest, OneThatIsToAttachLaterJoinsTheFirstOwner) {
  in_child([&] {
    EXPECT_FALSE(Process::get().join_next_owner());  // nobody has said where to look
    Process::get().attach_later();
    EXPECT_FALSE(Process::get().join_next_owner());
    FakeOwner owner(path());
    EXPECT_TRUE(joins());
    EXPECT_TRUE(Process::is_attached());
    EXPECT_NE(Process::place(), nullptr);
  });
}

TEST_F(ProcessTest, AVforkChildJoinsNobody) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    ASSERT_TRUE(Process::get().attach());
    first->die();
    FakeOwner second(path());
    const pid_t child = ::vfork();
    if (child == 0) ::_exit(Process::get().join_next_owner() ? 1 : 0);
    EXPECT_EQ(exit_code(child), 0);
    EXPECT_TRUE(second.asked().empty());
    EXPECT_TRUE(joins());
  });
}

TEST_F(ProcessTest, AForkedChildOfAnOrphanJoinsForItself) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    ASSERT_TRUE(Process::get().attach());
    ASSERT_NE(Process::place(), nullptr);
    first->die();
    FakeOwner second(path());
    EXPECT_EQ(forked([] {
                EXPECT_TRUE(joins());
                return Process::place()->thread.slot->pid == own_pid() &&
                       Process::place()->view.data == Process::view().data;
              }),
              0);
    EXPECT_TRUE(Process::is_orphaned());
    EXPECT_TRUE(joins());
  });
}

TEST_F(ProcessTest, AnOwnerThatWasMetElsewhereIsAdopted) {
  in_child([&] {
    std::optional<FakeOwner> first(path());
    Process& process = Process::get();
    ASSERT_TRUE(process.attach());
    const auto adopt = [&] {
      const auto connection = ipc::connect_to(path());
      EXPECT_TRUE(connection.has_value());
      int fds[2];
      const auto answer = ipc::ask_plain(connection->get(), {.operation = Operation::kAttach}, &fds);
      EXPECT_EQ(answer.error, 0);
      const bool adopted = process.adopt_owner(answer.reply, fds);
      for (const int fd : fds) ::close(fd);
      return adopted;
    };
    const Attachment* const before = Process::current();
    EXPECT_TRUE(adopt());
    EXPECT_EQ(Process::current(), before);  // the same
    first->die();
    FakeOwner second(path());
    EXPECT_TRUE(adopt());
    EXPECT_NE(Process::current(), before);
    EXPECT_FALSE(Process::is_orphaned());
    EXPECT_FALSE(process.adopt_owner({}, {-1, -1}));
    EXPECT_FALSE(Process::is_orphaned());
  });
}

TEST_F(ProcessTest, EventsReachTheOwnerThroughAThreadsPlace) {
  in_child([&] {
    FakeOwner owner(path());
    owner.domain().publish(kEvent, {owner.domain().record()});
    ASSERT_TRUE(Process::get().attach());
    const Place* const place = Process::place();
    const plan::Segment segment{"four", 4};
    EXPECT_TRUE(plan::emit(place->view, place->thread, kEvent, &segment, 1, 4));
    EXPECT_EQ(owner.domain().records(), (std::vector<plan::TestRecord>{{kEvent, own_tid(), "four"}}));
  });
}

}  // namespace
}  // namespace landtrace::client
