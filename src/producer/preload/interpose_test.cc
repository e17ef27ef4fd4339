// The functions in front of libc's, which stand in front of this program's own calls here. Its owner is in the
// parent, whose calls go through them, too, and meet no file of ours.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <thread>

#include "base/own_threads.hpp"
#include "base/test_memory_child.hpp"
#include "base/test_thread.hpp"
#include "client/fake_owner.hpp"
#include "client/process.hpp"
#include "abi/user_events.hpp"
#include "ipc/unprobed_mark.hpp"
#include "preload/data_file.hpp"
#include "preload/real.hpp"
#include "preload/status_file.hpp"
#include "preload/unprobed_programs.hpp"

extern "C" {
extern const landtrace::client::ChildListener* landtrace_child_listener;
extern landtrace::client::NamedTracer landtrace_named_tracer;
extern std::uint32_t landtrace_filters;
}

namespace landtrace::preload {
namespace {

using client::ClientTest;
using client::FakeAnswer;
using client::FakeOwner;
using client::Process;
using ipc::Operation;

constexpr std::uint32_t kEvent = plan::kFirstEventSlot;
constexpr const char* kPath = "/nonexistent/tracing/user_events_data";

class InterposeTest : public ClientTest {
 protected:
  // The body runs in a child of the owner's process. Every file has the event under index 0.
  void with_owner(const std::function<void(FakeOwner&)>& body) const {
    FakeOwner owner(path());
    plan::TestDomain& domain = owner.domain();
    domain.publish(kEvent, {domain.record()});
    domain.control().files[1] = {domain.put(std::vector<std::uint32_t>{1, kEvent}), 77};
    owner.answer(Operation::kStatusPage, [&](const client::Asked&) {
      FakeAnswer answer;
      answer.file = "/proc/self/exe";
      return answer;
    });
    owner.answer(Operation::kStatusText, [](const client::Asked&) {
      FakeAnswer answer;
      answer.text = "status";
      return answer;
    });
    in_child([&] { body(owner); });
  }
  static int open_file(int flags = O_RDWR) {
    const int fd = ::open(kPath, flags);
    EXPECT_TRUE(FdTable::is_ours(fd)) << "descriptor " << fd;
    return fd;
  }
  static std::size_t recorded(FakeOwner& owner) { return owner.domain().records().size(); }
  static inline const std::string kBytes = plan::bytes_of(0) + "four";
};

// -- open -------------------------------------------------------------------------------------------------------------
TEST_F(InterposeTest, EveryWayToOpenADataFileGivesOne) {
  with_owner([](FakeOwner&) {
    errno = EDOM;
    for (const int fd :
         {::open(kPath, O_RDWR), ::open64(kPath, O_WRONLY), ::openat(AT_FDCWD, kPath, O_RDWR),
          ::openat64(AT_FDCWD, kPath, O_RDWR), static_cast<int>(::syscall(SYS_openat, AT_FDCWD, kPath, O_RDWR, 0))}) {
      EXPECT_TRUE(FdTable::is_ours(fd));
    }
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(FdTable::get(::open(kPath, O_RDONLY)).access, O_RDONLY);
  });
}

TEST_F(InterposeTest, WhatAShellCreatesUnderThatNameIsTheProgramsOwn) {
  with_owner([&](FakeOwner&) {
    const std::string file = folder() + "/user_events_data";
    const int made = ::open(file.c_str(), O_WRONLY | O_CREAT, 0644);
    ASSERT_GE(made, 0);
    EXPECT_FALSE(FdTable::is_ours(made));
    // Without creating it the domain goes before what is there.
    EXPECT_TRUE(FdTable::is_ours(::open(file.c_str(), O_RDWR)));
  });
}

TEST_F(InterposeTest, OtherFilesAndBadPathsAreAsWithoutIt) {
  with_owner([](FakeOwner& owner) {
    const int fd = ::open("/dev/null", O_RDWR);
    EXPECT_GE(fd, 0);
    EXPECT_FALSE(FdTable::is_ours(fd));
    const char* volatile nowhere = nullptr;  // the compiler would refuse a constant
    EXPECT_EQ(::open(nowhere, O_RDONLY), -1);
    EXPECT_EQ(errno, EFAULT);
    const std::string long_name = std::string(PATH_MAX, 'x') + "/user_events_data";
    EXPECT_EQ(::open(long_name.c_str(), O_RDONLY), -1);
    EXPECT_EQ(errno, ENAMETOOLONG);
    EXPECT_EQ(::open("/nonexistent/file", O_RDONLY), -1);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_TRUE(owner.asked().empty()) << "such a program is not touched";
  });
}

TEST_F(InterposeTest, WithoutADomainTheErrorIsTheSystems) {
  in_child([] {
    EXPECT_EQ(::open(kPath, O_RDWR), -1);
    EXPECT_EQ(errno, ENOENT);
    EXPECT_EQ(::open("/nonexistent/user_events_status", O_RDONLY), -1);
    EXPECT_EQ(errno, ENOENT);
  });
}

TEST_F(InterposeTest, ADescriptorThatIsOpenedIsANewFileWhateverTheNumberWas) {
  with_owner([](FakeOwner&) {
    const int fd = open_file();
    ASSERT_EQ(real().close(fd), 0);  // past the shim
    ASSERT_EQ(::open("/dev/null", O_RDWR), fd);
    EXPECT_FALSE(FdTable::is_ours(fd));
  });
}

TEST_F(InterposeTest, AStatusFileIsReadAndNotWritten) {
  with_owner([](FakeOwner&) {
    const int fd = ::open("/nonexistent/user_events_status", O_RDONLY);
    ASSERT_GE(fd, 0);
    EXPECT_TRUE(is_status_file(FdTable::get(fd)));
    char text[16] = {};
    EXPECT_EQ(::read(fd, text, sizeof text), 6);
    EXPECT_STREQ(text, "status");
    EXPECT_EQ(::pread(fd, text, 3, 0), 3);
    const iovec vector{text, 2};
    EXPECT_EQ(::readv(fd, &vector, 1), 2);
    EXPECT_EQ(::lseek(fd, 0, SEEK_CUR), 8);
    EXPECT_EQ(::ioctl(fd, abi::kIoctlDelete, "name"), -1);
    EXPECT_EQ(errno, ENOTTY);
    EXPECT_EQ(::write(fd, "x", 1), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(::fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
  });
}

// -- descriptors ------------------------------------------------------------------------------------------------------
TEST_F(InterposeTest, EveryWayToDuplicateADescriptorGivesTheSameFile) {
  with_owner([](FakeOwner& owner) {
    const int fd = open_file();
    const int copies[] = {::dup(fd),
                          ::dup2(fd, 150),
                          ::dup3(fd, 151, O_CLOEXEC),
                          ::fcntl(fd, F_DUPFD, 160),
                          ::fcntl(fd, F_DUPFD_CLOEXEC, 170),
                          static_cast<int>(::syscall(SYS_dup, fd)),
                          static_cast<int>(::syscall(SYS_dup3, fd, 152, 0))};
    for (const int copy : copies) {
      EXPECT_EQ(::write(copy, kBytes.data(), kBytes.size()), 8) << copy;
      EXPECT_EQ(::close(copy), 0);
      EXPECT_FALSE(FdTable::is_ours(copy)) << copy;
    }
    EXPECT_EQ(recorded(owner), std::size(copies));
    EXPECT_TRUE(FdTable::is_ours(fd));
    EXPECT_EQ(::dup2(fd, fd), fd);
    EXPECT_TRUE(FdTable::is_ours(fd));
  });
}

TEST_F(InterposeTest, ADescriptorThatIsReplacedIsTheFileNoMoreUnlessThatFails) {
  with_owner([](FakeOwner&) {
    const int fd = open_file();
    EXPECT_EQ(::dup2(-1, fd), -1);
    EXPECT_TRUE(FdTable::is_ours(fd));
    EXPECT_EQ(::dup3(fd, fd, 0), -1);
    EXPECT_TRUE(FdTable::is_ours(fd));
    EXPECT_EQ(::dup2(0, fd), fd);
    EXPECT_FALSE(FdTable::is_ours(fd));
  });
}

TEST_F(InterposeTest, ClosingIsNoticedInEveryWay) {
  with_owner([](FakeOwner&) {
    int fd = open_file();
    EXPECT_EQ(::close(fd), 0);
    EXPECT_FALSE(FdTable::is_ours(fd));
    fd = open_file();
    EXPECT_EQ(::syscall(SYS_close, fd), 0);
    EXPECT_FALSE(FdTable::is_ours(fd));
    fd = open_file();
    const auto number = static_cast<unsigned>(fd);
    EXPECT_EQ(::close_range(number, number, 1 << 2 /* CLOSE_RANGE_CLOEXEC */), 0);
    EXPECT_TRUE(FdTable::is_ours(fd));
    EXPECT_EQ(::close_range(number + 1, number, 0), -1);
    EXPECT_TRUE(FdTable::is_ours(fd));
    EXPECT_EQ(::close_range(number, number, 0), 0);
    EXPECT_FALSE(FdTable::is_ours(fd));
    fd = open_file();
    std::FILE* const stream = ::fdopen(fd, "w");
    ASSERT_NE(stream, nullptr);
    EXPECT_EQ(std::fclose(stream), 0);
    EXPECT_FALSE(FdTable::is_ours(fd));
    fd = open_file();
    std::FILE* const other = ::fdopen(fd, "w");
    ASSERT_NE(std::freopen("/dev/null", "w", other), nullptr);
    EXPECT_FALSE(FdTable::is_ours(fd));
  });
}

TEST_F(InterposeTest, TheLibrarysConnectionIsNotTheProgramsToClose) {
  with_owner([](FakeOwner&) {
    const int fd = open_file();
    const int own = Process::get().control_fd();
    ASSERT_GE(own, 0);
    EXPECT_EQ(::close(own), 0);
    EXPECT_EQ(Process::get().control_fd(), own);
    EXPECT_EQ(::close_range(static_cast<unsigned>(own), static_cast<unsigned>(own), 0), 0);
    EXPECT_EQ(Process::get().control_fd(), own);
    const int above = ::fcntl(0, F_DUPFD, own + 1);
    ::closefrom(3);
    EXPECT_EQ(Process::get().control_fd(), own);
    EXPECT_FALSE(FdTable::is_ours(fd));
    EXPECT_EQ(real().fcntl(fd, F_GETFD, nullptr), -1);
    EXPECT_EQ(real().fcntl(above, F_GETFD, nullptr), -1);
    // Where the number is another file's by now it is the program's.
    ASSERT_EQ(real().dup2(0, own), own);
    EXPECT_EQ(::close(own), 0);
    EXPECT_EQ(real().fcntl(own, F_GETFD, nullptr), -1);
  });
}

TEST_F(InterposeTest, AFilesFlagsAreThoseThatItWasOpenedWith) {
  with_owner([](FakeOwner&) {
    const int fd = open_file(O_WRONLY | O_NONBLOCK);
    EXPECT_EQ(::fcntl(fd, F_GETFL), O_WRONLY | O_NONBLOCK | 0100000);
    EXPECT_EQ(::fcntl(fd, F_SETFL, 0), 0);
    EXPECT_EQ(::fcntl64(fd, F_GETFL), O_WRONLY | 0100000);
    EXPECT_EQ(::fcntl(-1, F_GETFL), -1);
    EXPECT_EQ(::fcntl(1, F_GETFL), real().fcntl(1, F_GETFL, nullptr));
  });
}

// -- read, write, ioctl -----------------------------------------------------------------------------------------------
TEST_F(InterposeTest, AFileCannotBeReadAndKeepsItsIdentity) {
  with_owner([](FakeOwner&) {
    const int fd = open_file();
    char byte;
    const iovec vector{&byte, 1};
    EXPECT_EQ(::read(fd, &byte, 1), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(::readv(fd, &vector, 1), -1);
    EXPECT_EQ(::readv(fd, &vector, 0), 0);
    EXPECT_EQ(::pread(fd, &byte, 1, 0), -1);
    EXPECT_EQ(::pread64(fd, &byte, 1, 0), -1);
    EXPECT_EQ(::recv(fd, &byte, 1, 0), -1);
    EXPECT_EQ(errno, ENOTSOCK);
    EXPECT_EQ(::recvfrom(fd, &byte, 1, 0, nullptr, nullptr), -1);
    EXPECT_EQ(::lseek(fd, 5, SEEK_SET), 0);
    EXPECT_EQ(::lseek64(fd, 5, SEEK_SET), 0);
    const int write_only = open_file(O_WRONLY);
    EXPECT_EQ(::read(write_only, &byte, 1), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_TRUE(ipc::peek_identity(fd).has_value());
  });
}

TEST_F(InterposeTest, EveryWayToWriteIsAnEvent) {
  with_owner([](FakeOwner& owner) {
    const int fd = open_file();
    std::string bytes = kBytes;
    const iovec vector{bytes.data(), bytes.size()};
    EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), 8);
    EXPECT_EQ(::writev(fd, &vector, 1), 8);
    EXPECT_EQ(::pwrite(fd, bytes.data(), bytes.size(), 0), 8);
    EXPECT_EQ(::pwrite64(fd, bytes.data(), bytes.size(), 100), 8);
    EXPECT_EQ(::pwritev(fd, &vector, 1, 0), 8);
    EXPECT_EQ(::pwritev64(fd, &vector, 1, 100), 8);
    EXPECT_EQ(::pwritev2(fd, &vector, 1, -1, 0), 8);
    EXPECT_EQ(::pwritev64v2(fd, &vector, 1, 0, 0), 8);
    EXPECT_EQ(::syscall(SYS_write, fd, bytes.data(), bytes.size()), 8);
    EXPECT_EQ(::syscall(SYS_writev, fd, &vector, 1), 8);
    EXPECT_EQ(recorded(owner), 10u);
    EXPECT_EQ(::pwrite(fd, bytes.data(), bytes.size(), -1), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(::pwritev(fd, &vector, 1, -2), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(recorded(owner), 10u);
  });
}

TEST_F(InterposeTest, WritesToOtherFilesGoThere) {
  with_owner([&](FakeOwner&) {
    const int fd = ::open((folder() + "/file").c_str(), O_RDWR | O_CREAT, 0644);
    ASSERT_GE(fd, 0);
    char text[] = "ab";
    const iovec vector{text, 2};
    EXPECT_EQ(::write(fd, "12", 2), 2);
    EXPECT_EQ(::writev(fd, &vector, 1), 2);
    EXPECT_EQ(::pwrite(fd, "34", 2, 4), 2);
    EXPECT_EQ(::pwritev(fd, &vector, 1, 6), 2);
    EXPECT_EQ(::pwritev2(fd, &vector, 1, 8, 0), 2);
    char all[16] = {};
    EXPECT_EQ(::pread(fd, all, sizeof all, 0), 10);
    EXPECT_STREQ(all, "12ab34abab");
    EXPECT_EQ(::lseek(fd, 2, SEEK_SET), 2);
    EXPECT_EQ(::read(fd, all, 2), 2);
    EXPECT_EQ(std::memcmp(all, "ab", 2), 0);
  });
}

TEST_F(InterposeTest, RequestsGoToTheOwnerAndThoseOfTheDescriptorToTheSystem) {
  FakeOwner owner(path());
  in_child([] {
    const int fd = open_file();
    errno = EDOM;
    EXPECT_EQ(::ioctl(fd, abi::kIoctlDelete, "name"), 0);
    EXPECT_EQ(::syscall(SYS_ioctl, fd, abi::kIoctlDelete, "other"), 0);
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(::ioctl(fd, abi::kIoctlDelete, nullptr), -1);
    EXPECT_EQ(errno, EFAULT);
    EXPECT_EQ(::ioctl(fd, FIOCLEX), 0);
    EXPECT_EQ(::fcntl(fd, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(::ioctl(fd, FIONCLEX), 0);
    EXPECT_EQ(::fcntl(fd, F_GETFD), 0);
    int on = 1;
    EXPECT_EQ(::ioctl(fd, FIONBIO, &on), 0);
    EXPECT_EQ(::ioctl(fd, 0x1234), -1);
    EXPECT_EQ(errno, ENOTTY);
    EXPECT_EQ(::ioctl(0, abi::kIoctlDelete, "name"), -1);
  });
  const auto asked = owner.asked(Operation::kDelete);
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(asked[0].text, "name");
  EXPECT_EQ(asked[1].text, "other");
}

TEST_F(InterposeTest, AFileThatArrivesOverASocketIsRecognised) {
  with_owner([](FakeOwner&) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    const int fd = open_file();
    const auto send = [&] {
      char byte = 0;
      iovec vector{&byte, 1};
      alignas(cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))] = {};
      msghdr message{};
      message.msg_iov = &vector;
      message.msg_iovlen = 1;
      message.msg_control = room;
      message.msg_controllen = sizeof room;
      cmsghdr* const head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(2 * sizeof(int));
      const int fds[] = {0, fd};
      std::memcpy(CMSG_DATA(head), fds, sizeof fds);
      EXPECT_EQ(::sendmsg(ends[1], &message, 0), 1);
    };
    char byte;
    iovec vector{&byte, 1};
    alignas(cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))];
    mmsghdr messages{};
    const auto prepare = [&] {
      messages.msg_hdr.msg_iov = &vector;
      messages.msg_hdr.msg_iovlen = 1;
      messages.msg_hdr.msg_control = room;
      messages.msg_hdr.msg_controllen = sizeof room;
    };
    const auto received = [&] {
      int fds[2];
      std::memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&messages.msg_hdr)), sizeof fds);
      EXPECT_FALSE(FdTable::is_ours(fds[0]));
      return fds[1];
    };
    send();
    prepare();
    ASSERT_EQ(::recvmsg(ends[0], &messages.msg_hdr, 0), 1);
    EXPECT_TRUE(FdTable::is_ours(received()));
    send();
    prepare();
    ASSERT_EQ(::recvmmsg(ends[0], &messages, 1, 0, nullptr), 1);
    EXPECT_TRUE(FdTable::is_ours(received()));
  });
}

TEST_F(InterposeTest, OtherSystemCallsAreTheSystems) {
  in_child([] {
    EXPECT_EQ(::syscall(SYS_getpid), ::getpid());
    EXPECT_EQ(::syscall(SYS_close, -1), -1);
    EXPECT_EQ(errno, EBADF);
  });
}

// -- children that share the memory -----------------------------------------------------------------------------------
std::vector<std::uint32_t> expected;
int gone = 0;
std::vector<arch::TimeSource> sources;
const client::ChildListener kListener = {[](std::uint32_t events) { expected.push_back(events); }, [] { ++gone; },
                                         [](arch::TimeSource source) { sources.push_back(source); }};

int exit_of(pid_t child) {
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

// Not in line: what vfork() returns to twice has no variables to spoil.
[[gnu::noinline]] bool has_another_than(const client::Place* parents) {
  const client::Place* const place = Process::place();
  return place != nullptr && place != parents && place->thread.tid == this_thread();
}
[[gnu::noinline]] pid_t vfork_child(const client::Place* parents) {
  const pid_t child = ::vfork();
  if (child == 0) ::_exit(has_another_than(parents) ? 0 : 1);
  return child;
}

TEST_F(InterposeTest, AVforkChildAndOneByCloneHavePlacesOfTheirOwn) {
  with_owner([](FakeOwner&) {
    landtrace_child_listener = &kListener;
    ASSERT_TRUE(Process::get().attach());
    const client::Place* const place = Process::place();
    EXPECT_TRUE(run_in_memory_child([place] { return has_another_than(place); }));
    EXPECT_EQ(exit_of(vfork_child(place)), 0);
    EXPECT_EQ(Process::place(), place);
    ASSERT_EQ(expected.size(), 2u);
    for (const std::uint32_t events : expected) EXPECT_TRUE(events > 0 && events < Process::kUntilGone) << events;
    EXPECT_EQ(gone, 0) << "nobody says it";
    for (std::uint32_t i = 0; i <= expected[0]; ++i) EXPECT_EQ(Process::place(), place);
    EXPECT_TRUE(Process::has_place());
  });
}

TEST_F(InterposeTest, AChildThatRunsBesideItsParentHasItsOwnPlaceForAsLongAsItRuns) {
  with_owner([](FakeOwner&) {
    ASSERT_TRUE(Process::get().attach());
    const client::Place* const place = Process::place();
    struct Beside {
      const client::Place* parents;
      std::atomic<bool> goes_on;
    } beside{place, false};
    const auto run = [](void* what) {
      auto& of_parent = *static_cast<Beside*>(what);
      while (!of_parent.goes_on) ::usleep(100);
      const client::Place* const own = Process::place();
      const bool is_own = own != nullptr && own != of_parent.parents && own->thread.tid == this_thread();
      return is_own && own->thread.mode.area == nullptr ? 0 : 1;
    };
    std::vector<char> stack(256 << 10);
    char* const end = stack.data() + stack.size() - 64;
    const pid_t child = ::clone(run, end, CLONE_VM | SIGCHLD, &beside);
    ASSERT_GT(child, 0);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(Process::place(), place);
    beside.goes_on = true;
    EXPECT_EQ(exit_of(child), 0);
  });
}

TEST_F(InterposeTest, AChildWithMemoryOfItsOwnIsNotExpected) {
  with_owner([](FakeOwner&) {
    ASSERT_TRUE(Process::get().attach());
    EXPECT_NE(Process::place(), nullptr);
    std::vector<char> stack(256 << 10);
    const pid_t child = ::clone([](void*) { return 0; }, stack.data() + stack.size() - 64, SIGCHLD, nullptr);
    EXPECT_TRUE(Process::has_place());
    EXPECT_EQ(exit_of(child), 0);
  });
}

TEST_F(InterposeTest, WhileTheSystemMakesAChildItIsExpected) {
  in_child([] {
    landtrace_child_listener = &kListener;
    char name[] = "sh", option[] = "-c", command[] = "exit 3";
    char* const words[] = {name, option, command, nullptr};
    pid_t child = 0;
    EXPECT_EQ(::posix_spawn(&child, "/bin/sh", nullptr, nullptr, words, environ), 0);
    EXPECT_EQ(WEXITSTATUS(exit_of(child)), 3);
    EXPECT_EQ(::posix_spawnp(&child, name, nullptr, nullptr, words, environ), 0);
    EXPECT_EQ(WEXITSTATUS(exit_of(child)), 3);
    EXPECT_EQ(WEXITSTATUS(std::system(command)), 3);
    std::FILE* const output = ::popen("echo text", "r");
    char text[16] = {};
    EXPECT_STREQ(std::fgets(text, sizeof text, output), "text\n");
    EXPECT_EQ(::pclose(output), 0);
    EXPECT_EQ(expected, std::vector<std::uint32_t>(4, Process::kUntilGone));
    EXPECT_EQ(gone, 4);
  });
}

// -- prctl ------------------------------------------------------------------------------------------------------------
// The system says yes to that option, and does nothing.
void let_pass(unsigned option, unsigned argument_mask = 0, unsigned argument = 0) {
  constexpr auto kData = BPF_LD | BPF_W | BPF_ABS;
  constexpr auto kIs = BPF_JMP | BPF_JEQ | BPF_K;
  sock_filter code[] = {{kData, 0, 0, offsetof(seccomp_data, nr)},
                        {kIs, 0, 6, SYS_prctl},
                        {kData, 0, 0, offsetof(seccomp_data, args)},
                        {kIs, 0, 4, option},
                        {kData, 0, 0, offsetof(seccomp_data, args[1])},
                        {BPF_ALU | BPF_AND | BPF_K, 0, 0, argument_mask},
                        {kIs, 0, 1, argument},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter = {static_cast<unsigned short>(std::size(code)), code};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

TEST_F(InterposeTest, WhomTheProgramNamesAsItsTracerIsRemembered) {
  in_child([] {
    let_pass(PR_SET_PTRACER);
    EXPECT_EQ(landtrace_named_tracer.process, 0u);
    for (const unsigned long whom : {4711ul, ~0ul, 0ul}) {
      EXPECT_EQ(::prctl(PR_SET_PTRACER, whom, 0, 0, 0), 0);
      EXPECT_EQ(landtrace_named_tracer.whom, whom);
      EXPECT_EQ(landtrace_named_tracer.process, static_cast<std::uint32_t>(::getpid()));
    }
    ::syscall(SYS_prctl, PR_SET_PTRACER, 12, 0, 0, 0);
    EXPECT_EQ(landtrace_named_tracer.whom, 12u);
  });
}

TEST_F(InterposeTest, WhomAVforkChildNamesIsItsOwnTracer) {
  with_owner([](FakeOwner&) {
    ASSERT_TRUE(Process::get().attach());
    let_pass(PR_SET_PTRACER);
    EXPECT_EQ(::prctl(PR_SET_PTRACER, 4711ul, 0, 0, 0), 0);
    EXPECT_TRUE(run_in_memory_child([] { return ::prctl(PR_SET_PTRACER, 12ul, 0, 0, 0) == 0; }));
    EXPECT_EQ(landtrace_named_tracer.whom, 4711u);
    EXPECT_EQ(landtrace_named_tracer.process, static_cast<std::uint32_t>(::getpid()));
  });
}

// It may not ask any more who it is.
TEST_F(InterposeTest, AThreadThatLocksItselfInAfterAChildKnowsItsPlace) {
  with_owner([](FakeOwner&) {
    landtrace_child_listener = &kListener;
    ASSERT_TRUE(Process::get().attach());
    const client::Place* const place = Process::place();
    EXPECT_EQ(exit_of(vfork_child(place)), 0);
    let_pass(PR_SET_SECCOMP, ~0u, SECCOMP_MODE_STRICT);
    EXPECT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT), 0);
    EXPECT_TRUE(Process::has_place());
    EXPECT_EQ(Process::place(), place);
    EXPECT_EQ(gone, 1) << "the agent's place, too";
    EXPECT_EQ(sources, std::vector{arch::TimeSource::kMemory}) << "nor may the agent ask";
  });
}

// The system says that it does not know that call.
void refuse(unsigned call) {
  sock_filter code[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                        {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, call},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
                        {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter = {static_cast<unsigned short>(std::size(code)), code};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

TEST_F(InterposeTest, TheAgentHearsHowAThreadKnowsTheTime) {
  in_child([] {
    using arch::TimeSource;
    landtrace_child_listener = &kListener;
    EXPECT_EQ(::prctl(PR_SET_TSC, 77, 0, 0, 0), -1);
    EXPECT_EQ(::syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 77, nullptr), -1);
    EXPECT_EQ(sources, (std::vector{TimeSource::kMemory, TimeSource::kCounter}));
#if defined(__x86_64__)
    EXPECT_EQ(::prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0), 0);
    EXPECT_EQ(sources.back(), TimeSource::kCalls);
    EXPECT_EQ(::prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0), 0);
    EXPECT_EQ(sources.back(), TimeSource::kCounter);
#endif
  });
}

TEST_F(InterposeTest, FiltersAreCountedAndThoseThatTheSystemRefusesAreNot) {
  in_child([] {
    EXPECT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, nullptr), -1);
    EXPECT_EQ(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, nullptr), -1);
    EXPECT_EQ(landtrace_filters, 0u);
    refuse(SYS_close_range);
    EXPECT_EQ(landtrace_filters, 1u);
    sock_filter code[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    const sock_fprog filter = {static_cast<unsigned short>(std::size(code)), code};
    EXPECT_GT(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter), 0);
    EXPECT_EQ(landtrace_filters, 2u) << "what is returned is the listener's descriptor";
  });
}

// -- beside other threads ---------------------------------------------------------------------------------------------
TEST_F(InterposeTest, AThreadThatLeavesTheDescriptorsClosesNoneOfTheOthers) {
  with_owner([](FakeOwner& owner) {
    const int fd = open_file();
    std::thread([&] {
      EXPECT_EQ(::syscall(SYS_close_range, 0u, UINT_MAX, 1u << 1 /* CLOSE_RANGE_UNSHARE */), 0);
      EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
      // Numbers in a table of its own.
      EXPECT_EQ(::dup2(::open("/dev/null", O_RDWR), fd), fd);
      EXPECT_EQ(::close(fd), 0);
      ::closefrom(0);
    }).join();
    EXPECT_TRUE(FdTable::is_ours(fd));
    EXPECT_EQ(::write(fd, kBytes.data(), kBytes.size()), 8);
    EXPECT_EQ(recorded(owner), 1u);
    EXPECT_EQ(::close(fd), 0);
    EXPECT_FALSE(FdTable::is_ours(fd));
  });
}

TEST_F(InterposeTest, AThreadThatHasLeftTheDescriptorsLeavesTheConnectionToTheOthers) {
  with_owner([](FakeOwner&) {
    open_file();
    const int connection = Process::get().control_fd();
    std::thread([] {
      EXPECT_EQ(::unshare(CLONE_FILES), 0);
      real().close_range(0, UINT_MAX, 0);
      const auto ask = [] { return Process::get().ask_plain({.operation = Operation::kAbout}).error; };
      EXPECT_EQ(ask(), 0);
      const int own = Process::get().control_fd();
      EXPECT_GE(own, 0);
      EXPECT_EQ(ask(), 0);
      EXPECT_EQ(Process::get().control_fd(), own);
    }).join();
    EXPECT_EQ(Process::get().control_fd(), connection);
  });
}

// What a new file of that number is told.
std::string written_to(const std::string& path, int number) {
  const int fd = ::open(path.c_str(), O_CREAT | O_RDWR, 0600);
  if (fd != number) {
    EXPECT_EQ(::dup2(fd, number), number);
  }
  EXPECT_EQ(::write(number, "words", 5), 5);
  char there[16] = {};
  const ssize_t size = ::pread(number, there, sizeof there, 0);
  EXPECT_EQ(::lseek(number, 0, SEEK_CUR), 5);
  return {there, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

TEST_F(InterposeTest, AThreadThatHasLeftTheDescriptorsHasItsOwnFilesAndMarksNoneForTheOthers) {
  with_owner([&](FakeOwner& owner) {
    const int fd = open_file();
    std::thread([&] {
      EXPECT_EQ(::unshare(CLONE_FILES), 0);
      EXPECT_EQ(::close(fd), 0);
      EXPECT_EQ(written_to(folder() + "/log", fd), "words");
      const int own = ::open(kPath, O_RDWR);
      EXPECT_GT(own, fd);
      EXPECT_EQ(find_file(own).generation, 77u) << "it can register";
      EXPECT_EQ(::dup2(own, own + 1), own + 1);
      EXPECT_EQ(::close(own), 0);
      EXPECT_EQ(written_to(folder() + "/other", own), "words");
    }).join();
    EXPECT_EQ(recorded(owner), 0u);
    for (unsigned other = static_cast<unsigned>(fd) + 1; other < FdTable::end(); ++other) {
      EXPECT_FALSE(FdTable::is_ours(static_cast<int>(other))) << other;
    }
    EXPECT_EQ(::write(fd, kBytes.data(), kBytes.size()), 8);
    EXPECT_EQ(recorded(owner), 1u);
  });
}

// A thread of ours, which has no descriptors of the program's.
class OwnThread {
 public:
  OwnThread() : thread_([this] { started_.wait(false), ended_.wait(false); }) {
    ::pthread_setname_np(thread_.native_handle(), kAgentThreadName);
    started_ = true;
    started_.notify_all();
  }
  ~OwnThread() {
    ended_ = true;
    ended_.notify_all();
    thread_.join();
  }
  OwnThread(const OwnThread&) = delete;
  OwnThread& operator=(const OwnThread&) = delete;

 private:
  std::atomic<bool> started_ = false;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

TEST_F(InterposeTest, AThreadOfOursIsNoneThatTheProgramLeavesDescriptorsTo) {
  with_owner([&](FakeOwner& owner) {
    const OwnThread agents;
    const int before = open_file();
    EXPECT_EQ(::close_range(static_cast<unsigned>(before), UINT_MAX, 1 << 1 /* CLOSE_RANGE_UNSHARE */), 0);
    EXPECT_FALSE(FdTable::is_ours(before));
    EXPECT_EQ(::unshare(CLONE_FILES), 0);
    const int fd = open_file();
    EXPECT_EQ(::write(fd, kBytes.data(), kBytes.size()), 8);
    EXPECT_EQ(recorded(owner), 1u);
    EXPECT_EQ(::close(fd), 0);
    EXPECT_FALSE(FdTable::is_ours(fd));
    EXPECT_EQ(written_to(folder() + "/log", fd), "words");
    EXPECT_EQ(recorded(owner), 1u);
  });
}

TEST_F(InterposeTest, AThreadThatCouldNotLeaveHasTheProcesssDescriptors) {
  with_owner([&](FakeOwner&) {
    const int fd = open_file();
    std::thread([&] {
      refuse(SYS_close_range);
      EXPECT_EQ(::close_range(static_cast<unsigned>(fd), UINT_MAX, 1 << 1 /* CLOSE_RANGE_UNSHARE */), -1);
      EXPECT_TRUE(FdTable::is_ours(fd));
      EXPECT_EQ(::close(fd), 0);
    }).join();
    EXPECT_FALSE(FdTable::is_ours(fd));
  });
}

TEST_F(InterposeTest, WhatTheSystemDoesNotCloseIsNotForgotten) {
  with_owner([&](FakeOwner& owner) {
    const int fd = open_file();
    constexpr int kNoSuchFlag = 1 << 20;
    EXPECT_EQ(::close_range(static_cast<unsigned>(fd), UINT_MAX, kNoSuchFlag), -1);
    EXPECT_EQ(errno, EINVAL);
    refuse(SYS_close_range);
    EXPECT_EQ(::close_range(static_cast<unsigned>(fd), UINT_MAX, 0), -1);
    EXPECT_EQ(errno, ENOSYS);
    EXPECT_EQ(::write(fd, kBytes.data(), kBytes.size()), 8);
    EXPECT_EQ(recorded(owner), 1u);
  });
}

// Between vfork() and exec, as what closes all but some descriptors does.
TEST_F(InterposeTest, AVforkChildLeavesNothingForItsParent) {
  with_owner([&](FakeOwner& owner) {
    ASSERT_TRUE(Process::get().attach());
    std::thread([] {}).join();
    const int fd = open_file();
    EXPECT_TRUE(run_in_memory_child([&] {
      return ::close_range(static_cast<unsigned>(fd), UINT_MAX, 1 << 1 /* CLOSE_RANGE_UNSHARE */) == 0 &&
             ::open(kPath, O_RDWR) >= 0 && ::open(kPath, O_RDWR) > fd;
    }));
    for (unsigned other = static_cast<unsigned>(fd) + 1; other < FdTable::end(); ++other) {
      EXPECT_FALSE(FdTable::is_ours(static_cast<int>(other))) << other;
    }
    EXPECT_EQ(::write(fd, kBytes.data(), kBytes.size()), 8);
    EXPECT_EQ(recorded(owner), 1u);
    EXPECT_EQ(::close(fd), 0);
    EXPECT_FALSE(FdTable::is_ours(fd));
  });
}

// As it closes and redirects what its program is not to have.
TEST_F(InterposeTest, AVforkChildHasItsOwnFilesUnderItsParentsNumbers) {
  with_owner([&](FakeOwner& owner) {
    ASSERT_TRUE(Process::get().attach());
    const int fd = open_file(), other = open_file();
    std::string closed, replaced;
    EXPECT_TRUE(run_in_memory_child([&] {
      const int log = ::open((folder() + "/before").c_str(), O_CREAT | O_RDWR, 0600);
      ::close(fd);
      closed = written_to(folder() + "/closed", fd);
      ::dup2(log, other);
      replaced = written_to(folder() + "/replaced", other);
      return true;
    }));
    EXPECT_EQ(closed, "words");
    EXPECT_EQ(replaced, "words");
    EXPECT_EQ(recorded(owner), 0u);
    for (const int one : {fd, other}) {
      EXPECT_TRUE(FdTable::is_ours(one));
      EXPECT_EQ(::write(one, kBytes.data(), kBytes.size()), 8);
    }
    EXPECT_EQ(recorded(owner), 2u);
  });
}

TEST_F(InterposeTest, WhereAVforkChildIsTheFirstToAttachTheProcessIsItsParentsAllTheSame) {
  with_owner([&](FakeOwner& owner) {
    Process::get().note_process();
    EXPECT_TRUE(run_in_memory_child([] { return ::open(kPath, O_RDWR) >= 0; }));
    EXPECT_FALSE(Process::get().is_other_process(static_cast<std::uint32_t>(::getpid())));
    const int fd = open_file();
    EXPECT_EQ(::write(fd, kBytes.data(), kBytes.size()), 8);
    EXPECT_EQ(recorded(owner), 1u);
    EXPECT_EQ(::close(fd), 0);
    EXPECT_FALSE(FdTable::is_ours(fd));
  });
}

// Whether a thread that was cancelled before gets through.
template <typename Body>
bool passes_cancelled(const Body& body) {
  const auto run = [](void* what) -> void* {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
    (*static_cast<const Body*>(what))();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    return nullptr;
  };
  pthread_t thread{};
  void* result = nullptr;
  EXPECT_EQ(pthread_create(&thread, nullptr, run, const_cast<void*>(static_cast<const void*>(&body))), 0);
  EXPECT_EQ(pthread_join(thread, &result), 0);
  return result == nullptr;
}

TEST_F(InterposeTest, SystemCallsByNumberAreNoPlacesToBeCancelledAt) {
  with_owner([&](FakeOwner&) {
    const std::string path = folder() + "/file";
    long fd = ::open(path.c_str(), O_CREAT | O_RDWR, 0600);
    const iovec vector{const_cast<char*>("words"), 5};
    EXPECT_TRUE(passes_cancelled([&] { ::syscall(SYS_write, fd, "words", 5l); }));
    EXPECT_TRUE(passes_cancelled([&] { ::syscall(SYS_writev, fd, &vector, 1l); }));
    EXPECT_EQ(::lseek(static_cast<int>(fd), 0, SEEK_CUR), 10);
    flock lock{};
    lock.l_type = F_WRLCK;
    EXPECT_TRUE(passes_cancelled([&] { ::syscall(SYS_fcntl, fd, static_cast<long>(F_SETLKW), &lock); }));
    EXPECT_TRUE(passes_cancelled([&] { ::syscall(SYS_close, fd); }));
    EXPECT_EQ(::fcntl(static_cast<int>(fd), F_GETFD), -1);
    EXPECT_TRUE(passes_cancelled([&] { fd = ::syscall(SYS_openat, long{AT_FDCWD}, path.c_str(), long{O_RDONLY}); }));
    EXPECT_GE(fd, 0);
  });
}

TEST_F(InterposeTest, NorAreRequestsOfUnknownDescriptorsAndTheStartOfPrograms) {
  with_owner([&](FakeOwner&) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    EXPECT_TRUE(passes_cancelled([&] { ::ioctl(ends[0], abi::kIoctlDelete, "name"); }));
    const std::string domain = folder() + "/noted";
    const int mark = ::open((domain + ipc::kUnprobedSuffix).c_str(), O_CREAT | O_RDWR, 0600);
    ASSERT_GE(mark, 0);
    set_noting(domain);
    pid_t child = 0;
    char name[] = "true";
    char* const words[] = {name, nullptr};
    EXPECT_TRUE(passes_cancelled([&] { ::posix_spawn(&child, "/bin/true", nullptr, nullptr, words, environ); }));
    ASSERT_GT(child, 0);
    EXPECT_EQ(exit_of(child), 0);
  });
}

// A thread that loads a library has the loader's lock until the library's constructors have run, and these may wait for
// other threads.
TEST_F(InterposeTest, NoCallWaitsForALibraryThatIsBeingLoaded) {
  in_child([&] {
    constexpr unsigned kLongest_s = 20;
    ::alarm(kLongest_s);
    real();  // as when the shim is loaded
    const std::string pipe = folder() + "/library";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::thread loader([&] { EXPECT_EQ(::dlopen(pipe.c_str(), RTLD_NOW), nullptr); });
    // Opened once there is who reads it: the loader does, and waits for bytes.
    const int bytes = ::open(pipe.c_str(), O_WRONLY);
    ASSERT_GE(bytes, 0);
    EXPECT_EQ(::lseek(bytes, 0, SEEK_CUR), -1);
    pollfd nothing{-1, 0, 0};
    EXPECT_EQ(::poll(&nothing, 1, 0), 0);
    timeval at_once{};
    EXPECT_EQ(::select(0, nullptr, nullptr, nullptr, &at_once), 0);
    char* const words[] = {nullptr};
    EXPECT_EQ(::execve("/nonexistent", words, environ), -1);
    ::close(bytes);
    loader.join();
  });
}

}  // namespace
}  // namespace landtrace::preload
