// A user of a domain who wants to take it from the others: for guests_test.py. Everything here is what any program may
// do that can reach the domain's socket; nothing of the library runs.
//
//   attack WHAT [COUNT]
//
// Says "ready" when it has done what it can, and keeps what it has until its standard input ends.
//
//   readers       marks threads as being in the middle of an event; makes events and files that have to wait for them
//   connections   COUNT connections of which nothing comes
//   words         COUNT processes whose enable words lie in memory that never answers; begins as root, goes on as uid
//                 $ATTACK_UID
//   memory        writes to all of its data segment
//   scribble      writes nonsense over all rings of its data segment, again and again
//   users         COUNT users, from uid 200000 on, one after the other; begins as root
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ipc/socket.hpp"
#include "plan/segments.hpp"

namespace landtrace {
namespace {

using ipc::Operation;

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::_Exit(2);
}

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void keep_until_told() {
  say("ready");
  char byte;
  while (::read(STDIN_FILENO, &byte, 1) > 0) continue;
}

int connect() { return ipc::connect_plain(std::getenv("LANDTRACE_SOCKET"), true); }

struct Segment {
  Fd connection;
  plan::DataSegment* data = nullptr;
  std::uint64_t bytes = 0;
};

Segment attach() {
  Segment segment{Fd(connect())};
  auto answer = ipc::ask(segment.connection.get(), {.operation = Operation::kAttach});
  if (!answer) return segment;
  segment.bytes = answer->reply.b;
  void* const data = ::mmap(nullptr, segment.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, answer->fds[1].get(), 0);
  if (data == MAP_FAILED) give_up("mmap");
  segment.data = static_cast<plan::DataSegment*>(data);
  return segment;
}

// -- readers --------------------------------------------------------------------------------------------------------

void readers(int) {
  const Segment mine = attach();
  if (mine.data == nullptr) give_up("attach");
  for (std::uint32_t i = 0; i < 100; ++i) {
    plan::ThreadSlot& slot = mine.data->threads[i];
    slot.tid = slot.pid = static_cast<std::uint32_t>(::getpid());
    slot.section = 1;
  }
  mine.data->thread_high = plan::kMaxThreads;
  int events = 0, files = 0;
  for (std::uint32_t i = 0; i < plan::kMaxEvents + 100; ++i) {
    const auto made = ipc::ask(mine.connection.get(), {.operation = Operation::kRegisterNative},
                               "attack_" + std::to_string(i) + " u32 x");
    if (!made) continue;
    ++events;
    std::ignore = ipc::ask(mine.connection.get(), {.operation = Operation::kReleaseNative, .a = made->reply.a});
  }
  for (std::uint32_t i = 0; i < plan::kMaxFiles + 100; ++i) {
    const Fd file(connect());
    const ipc::Request open{.operation = Operation::kOpenFile};
    if (!file || !ipc::send(file.get(), std::as_bytes(std::span(&open, 1)), {})) continue;
    ipc::FileIdentity identity;
    if (::recv(file.get(), &identity, sizeof identity, 0) == sizeof identity && identity.error == 0) ++files;
  }
  say("events " + std::to_string(events) + " files " + std::to_string(files));
  keep_until_told();
}

// -- connections ----------------------------------------------------------------------------------------------------

void connections(int count) {
  const rlimit all{static_cast<rlim_t>(count) + 100, static_cast<rlim_t>(count) + 100};
  if (::setrlimit(RLIMIT_NOFILE, &all) != 0) {
    rlimit most{};
    ::getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &most);
  }
  int made = 0;
  for (int i = 0; i < count; ++i) made += connect() >= 0;
  say("connections " + std::to_string(made));
  keep_until_told();
}

// -- words ----------------------------------------------------------------------------------------------------------

// A page whose faults nobody handles, with a word that answered until just now where `answers_first`.
void* silent_page(int faults) {
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  uffdio_register range{};
  range.range = {reinterpret_cast<std::uintptr_t>(page), 4096};
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  if (page == MAP_FAILED || ::ioctl(faults, UFFDIO_REGISTER, &range) != 0) give_up("UFFDIO_REGISTER");
  return page;
}

void make_present(int faults, void* page) {
  static char zeros[4096] __attribute__((aligned(4096)));
  uffdio_copy copy{};
  copy.dst = reinterpret_cast<std::uintptr_t>(page);
  copy.src = reinterpret_cast<std::uintptr_t>(zeros);
  copy.len = 4096;
  if (::ioctl(faults, UFFDIO_COPY, &copy) != 0) give_up("UFFDIO_COPY");
}

void become_the_attacker() {
  const auto uid = static_cast<uid_t>(std::atoi(std::getenv("ATTACK_UID")));
  if (::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0) give_up("setresuid");
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // which a change of the user takes away
}

// One process: a word that answers while it is registered and never again, and one that never does.
void register_silent_words(int number) {
  const int faults = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
  uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
  if (faults < 0 || ::ioctl(faults, UFFDIO_API, &api) != 0) give_up("userfaultfd");
  void* const pages[] = {silent_page(faults), silent_page(faults)};
  make_present(faults, pages[0]);
  become_the_attacker();
  const Segment mine = attach();
  const Fd file(connect());
  const ipc::Request open{.operation = Operation::kOpenFile};
  if (!file || !ipc::send(file.get(), std::as_bytes(std::span(&open, 1)), {})) return;
  ipc::FileIdentity identity;
  if (::recv(file.get(), &identity, sizeof identity, 0) != sizeof identity) return;
  for (void* const page : pages) {
    std::ignore = ipc::ask(mine.connection.get(),
                           {.operation = Operation::kRegister,
                            .file_slot = identity.slot,
                            .file_generation = identity.generation,
                            .a = reinterpret_cast<std::uintptr_t>(page),
                            .b = 0,
                            .c = 4},
                           "silent_" + std::to_string(number) + " u32 x");
    ::madvise(page, 4096, MADV_DONTNEED);
  }
}

void words(int count) {
  int ends[2];
  if (::pipe(ends) != 0) give_up("pipe");
  for (int i = 0; i < count; ++i) {
    if (::fork() != 0) continue;
    ::close(ends[0]);
    register_silent_words(i);
    ::close(ends[1]);
    for (;;) ::pause();
  }
  ::close(ends[1]);
  char byte;
  std::ignore = ::read(ends[0], &byte, 1);  // ends when all have done what they can
  keep_until_told();
}

// -- memory, scribble -----------------------------------------------------------------------------------------------

void memory(int) {
  const Segment mine = attach();
  if (mine.data == nullptr) give_up("attach");
  auto* const bytes = reinterpret_cast<volatile char*>(mine.data);
  for (std::uint64_t at = sizeof(plan::DataSegment); at < mine.bytes; at += 4096) bytes[at] = 1;
  keep_until_told();
}

void scribble(int) {
  const Segment mine = attach();
  if (mine.data == nullptr) give_up("attach");
  auto* const words = reinterpret_cast<volatile std::uint64_t*>(mine.data);
  const auto round = [&](std::uint64_t value) {
    constexpr std::uint64_t kWordsOfAPage = 512;
    const std::uint64_t end = std::min<std::uint64_t>(mine.bytes, sizeof(plan::DataSegment) + (200u << 20)) / 8;
    for (std::uint64_t at = sizeof(plan::DataSegment) / 8; at < end; at += kWordsOfAPage) {
      for (int i = 0; i < 20; ++i) words[at + i] = value - static_cast<std::uint64_t>(i) * 4096;
    }
  };
  round(1ull << 62);
  say("ready");
  for (std::uint64_t i = 0;; ++i) {
    round(i % 3 == 0 ? ~0ull : i % 3 == 1 ? 1ull << 62 : i * 0x9e3779b97f4a7c15ull);
    ::usleep(1000);
  }
}

// -- users ----------------------------------------------------------------------------------------------------------

void users(int count) {
  int joined = 0;
  for (int i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto uid = static_cast<uid_t>(200'000 + i);
      if (::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0) give_up("setresuid");
      std::_Exit(attach().data == nullptr ? 1 : 0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    joined += status == 0;
  }
  say("joined " + std::to_string(joined));
  keep_until_told();
}

int run(int argc, char** argv) {
  const std::map<std::string, void (*)(int)> attacks = {{"readers", readers},   {"connections", connections},
                                                        {"words", words},       {"memory", memory},
                                                        {"scribble", scribble}, {"users", users}};
  const auto attack = attacks.find(argc > 1 ? argv[1] : "");
  if (attack == attacks.end()) give_up("attack: no such attack");
  attack->second(argc > 2 ? std::atoi(argv[2]) : 0);
  return 0;
}

}  // namespace
}  // namespace landtrace

int main(int argc, char** argv) { return landtrace::run(argc, argv); }
