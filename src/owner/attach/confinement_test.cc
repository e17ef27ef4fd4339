#include "attach/confinement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

namespace landtrace::attach {
namespace {

using testing::HasSubstr;

sock_filter line(unsigned code, std::uint32_t k, unsigned if_true = 0, unsigned if_false = 0) {
  return {static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_true), static_cast<std::uint8_t>(if_false), k};
}

// Answers one call so, and allows all others.
SeccompFilter all_but(std::uint32_t number, std::uint32_t answer) {
  return {line(BPF_LD | BPF_W | BPF_ABS, 0), line(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
          line(BPF_RET | BPF_K, answer), line(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
}

TEST(CallInTheWay, IsNoneWhereAllAreAllowed) {
  EXPECT_EQ(call_in_the_way({}), "");
  EXPECT_EQ(call_in_the_way({{line(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}}), "");
  EXPECT_EQ(call_in_the_way({{line(BPF_RET | BPF_K, SECCOMP_RET_LOG)}}), "");
  EXPECT_EQ(call_in_the_way({all_but(SYS_mount, SECCOMP_RET_KILL_PROCESS), all_but(SYS_bpf, SECCOMP_RET_TRAP)}), "");
}

TEST(CallInTheWay, IsNamedWithWhatItMayDo) {
  EXPECT_EQ(call_in_the_way({all_but(SYS_openat, SECCOMP_RET_KILL_PROCESS)}), "openat (it may end the program)");
  EXPECT_EQ(call_in_the_way({all_but(SYS_openat, SECCOMP_RET_TRAP)}), "openat (it may end the program)");
  EXPECT_EQ(call_in_the_way({all_but(SYS_futex, SECCOMP_RET_USER_NOTIF)}), "futex (another process decides about it)");
  EXPECT_EQ(call_in_the_way({all_but(SYS_socket, SECCOMP_RET_ERRNO | EPERM)}),
            "socket (it may fail: Operation not permitted)");
  EXPECT_EQ(call_in_the_way({all_but(SYS_mount, SECCOMP_RET_KILL), all_but(SYS_exit, SECCOMP_RET_KILL)}),
            "exit (it may end the program)");
}

// As of an older system, in which libc takes clone(); with another error it makes no threads.
TEST(CallInTheWay, IsNotOneThatLibcDoesWithout) {
  EXPECT_EQ(call_in_the_way({all_but(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS)}), "");
  EXPECT_THAT(call_in_the_way({all_but(SYS_clone3, SECCOMP_RET_ERRNO | EPERM)}), HasSubstr("clone3"));
  EXPECT_EQ(call_in_the_way({all_but(SYS_process_vm_readv, SECCOMP_RET_ERRNO | EPERM)}), "");
  EXPECT_THAT(call_in_the_way({all_but(SYS_process_vm_readv, SECCOMP_RET_KILL)}), HasSubstr("process_vm_readv"));
}

// In a child: its filter stays. True: the text says so of it.
std::string limits_of_child(void (*confine)()) {
  int ready[2];
  EXPECT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    confine();
    std::ignore = ::write(ready[1], "", 1);
    char byte;
    while (::read(ready[0], &byte, 0) == 0) continue;
    ::syscall(SYS_exit, 0);
  }
  char byte;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  const auto checked = Confinement().check(static_cast<std::uint32_t>(child));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  return checked ? "" : checked.error().message;
}

void add_filter() {
  static sock_filter lines[] = {line(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  static const sock_fprog program{1, lines};
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

TEST(Confinement, IsSeenWithoutTheFilters) {
  EXPECT_EQ(limits_of_child([] {}), "");
  EXPECT_THAT(limits_of_child([] { ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); }), HasSubstr("strict"));
  const std::string with_filter = limits_of_child(add_filter);
  if (may_read_filters()) {
    EXPECT_EQ(with_filter, "");
  } else {
    EXPECT_THAT(with_filter, HasSubstr("root, outside of a container, may see"));
  }
  // Threads that are started later have what the first one has.
  const std::string in_two_threads = limits_of_child([] {
    add_filter();
    std::thread([] { ::pause(); }).detach();
  });
  EXPECT_EQ(in_two_threads, with_filter);
  EXPECT_THAT(limits_of_child([] {
                std::thread(add_filter).join();  // is gone, and its filter with it
                std::atomic<bool> has_filter = false;
                std::thread([&] {
                  add_filter();
                  has_filter = true;
                  ::pause();
                }).detach();
                while (!has_filter) continue;
                while (limits_of(static_cast<std::uint32_t>(::getpid())) != Limits::kMixed) continue;
              }),
              HasSubstr("not of all of them alike"));
}

TEST(Confinement, TakesWhatHasNoMoreFiltersThanAreKnown) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto self = static_cast<std::uint32_t>(::getpid());
    const unsigned before = filters_of(self);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    add_filter();
    const bool is_right = filters_of(self) == before + 1 && Confinement(before + 1).check(self) &&
                          Confinement(before + 1).has_harmless_ones(self) && !Confinement(0).check(self) &&
                          !Confinement(before).check(self) && !Confinement(before).has_harmless_ones(self);
    ::_exit(is_right ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Confinement, KnowsFiltersThatItHasJudged) {
  Confinement confinement;
  EXPECT_TRUE(confinement.lets_in({}));
  const std::vector<SeccompFilter> fine{all_but(SYS_mount, SECCOMP_RET_KILL)};
  const std::vector<SeccompFilter> other{all_but(SYS_bpf, SECCOMP_RET_KILL)};
  EXPECT_FALSE(confinement.lets_in(fine));
  EXPECT_TRUE(confinement.judge(fine));
  EXPECT_TRUE(confinement.lets_in(fine));
  EXPECT_FALSE(confinement.lets_in(other));
  EXPECT_FALSE(confinement.lets_in({}));
  const auto judged = confinement.judge({all_but(SYS_openat, SECCOMP_RET_KILL)});
  ASSERT_FALSE(judged);
  EXPECT_THAT(judged.error().message, HasSubstr("openat"));
  EXPECT_TRUE(confinement.lets_in(fine));
}

}  // namespace
}  // namespace landtrace::attach
