// A user of a domain who wants to take it from the others: for guests_test.py. Everything here is what any program may
// do that can reach the domain's socket; nothing of the library runs.
//
//   attack WHAT [COUNT]
//
// Says "ready" when it has done what it can, and keeps what it has until its standard input ends.
//
//   readers       marks threads as being in the middle of an event; makes events and files that have to wait for them
//   connections   COUNT connections of which nothing comes
//   requests      COUNT connections on each of which there is always a request for the text that lists all events
//   words         COUNT processes whose enable words lie in memory that never answers (a FUSE file that hangs); begins
//                 as root, goes on as uid $ATTACK_UID
//   memory        writes to all of its data segment, and again, saying "ready" again, for each byte of input
//   scribble      writes nonsense over all rings of its data segment, again and again
//   switches      throws all switches of the domain, again and again
//   users         COUNT users, from uid 200000 on, one after the other; begins as root
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
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

// A file of the domain; `identity` says which.
Fd open_file(ipc::FileIdentity& identity) {
  Fd file(connect());
  const ipc::Request open{.operation = Operation::kOpenFile};
  const bool is_open = file && ipc::send(file.get(), std::as_bytes(std::span(&open, 1)), {}) &&
                       ::recv(file.get(), &identity, sizeof identity, 0) == sizeof identity && identity.error == 0;
  return is_open ? std::move(file) : Fd();
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
    ipc::FileIdentity identity;
    if (open_file(identity)) ++files;
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

// -- requests -------------------------------------------------------------------------------------------------------

void requests(int count) {
  const Fd maker(connect());
  for (int i = 0; i < 4000; ++i) {
    std::ignore =
        ipc::ask(maker.get(), {.operation = Operation::kRegisterNative}, "asked_for_" + std::to_string(i) + " u32 x");
  }
  std::vector<int> all;
  for (int i = 0; i < count; ++i) {
    if (const int fd = connect(); fd >= 0) all.push_back(fd);
  }
  say("connections " + std::to_string(all.size()));
  say("ready");
  const ipc::Request request{.operation = Operation::kStatusText};
  alignas(8) static char answer[1 << 17];
  pollfd told{STDIN_FILENO, POLLIN, 0};
  while (::poll(&told, 1, 1) == 0) {
    for (const int fd : all) {
      std::ignore = ::send(fd, &request, sizeof request, MSG_DONTWAIT | MSG_NOSIGNAL);
      std::ignore = ::recv(fd, answer, sizeof answer, MSG_DONTWAIT);
    }
  }
}

// -- words ----------------------------------------------------------------------------------------------------------

// A file whose reads are never answered: a FUSE file system that hangs. Any user who may mount one has this.
//
// Whoever touches a page of it may sleep, beyond the reach of SIGKILL, until the last descriptor of its /dev/fuse is
// closed. So one process alone has that, which serves the file and never opens it (a process that ends closes its files
// in turn, and would wait for itself); the others open it, and have given up /dev/fuse before. The mount is in a
// namespace of its own, and goes with it.
class HungFile {
 public:
  explicit HungFile(const char* over) : over_(over), server_(::open("/dev/fuse", O_RDWR | O_CLOEXEC)) {
    const std::string options = "rootmode=100000,user_id=0,group_id=0,allow_other,fd=" + std::to_string(server_.get());
    const bool mounted = server_ && ::unshare(CLONE_NEWNS) == 0 &&
                         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("hung", over, "fuse", 0, options.c_str()) == 0;
    if (!mounted) give_up("mount of a FUSE file");
    std::thread([this] { serve(); }).detach();
  }
  // In a child.
  void open() {
    server_.reset();
    file_ = Fd(::open(over_, O_RDWR | O_CLOEXEC));
    struct stat st {};  // so that the kernel knows how long it is
    if (!file_ || ::fstat(file_.get(), &st) != 0) give_up("open of a FUSE file");
  }
  // Takes the place of what is at the page.
  void put_at(void* page) const {
    const int flags = MAP_PRIVATE | MAP_FIXED;
    if (::mmap(page, 4096, PROT_READ | PROT_WRITE, flags, file_.get(), 0) == MAP_FAILED) give_up("mmap of a FUSE file");
  }

 private:
  void reply(const fuse_in_header& request, const void* body, std::size_t size) const {
    char bytes[256];
    const fuse_out_header header{static_cast<std::uint32_t>(sizeof header + size), 0, request.unique};
    std::memcpy(bytes, &header, sizeof header);
    if (size > 0) std::memcpy(bytes + sizeof header, body, size);
    std::ignore = ::write(server_.get(), bytes, header.len);
  }
  void serve() const {
    alignas(8) static char bytes[1 << 17];
    while (::read(server_.get(), bytes, sizeof bytes) > 0) {
      fuse_in_header request;
      std::memcpy(&request, bytes, sizeof request);
      if (request.opcode == FUSE_INIT) {
        fuse_init_out out{};
        out.major = FUSE_KERNEL_VERSION;
        out.minor = 31;
        out.max_write = 4096;
        reply(request, &out, sizeof out);
      } else if (request.opcode == FUSE_GETATTR) {
        fuse_attr_out out{};
        out.attr.ino = FUSE_ROOT_ID;
        out.attr.mode = S_IFREG | 0666;
        out.attr.nlink = 1;
        out.attr.size = 4096;
        reply(request, &out, sizeof out);
      } else if (request.opcode == FUSE_OPEN) {
        fuse_open_out out{};
        out.open_flags = FOPEN_KEEP_CACHE;  // else who opens it waits for the page that somebody reads
        reply(request, &out, sizeof out);
      } else if (request.opcode != FUSE_READ) {
        reply(request, nullptr, 0);
      }
    }
  }

  const char* over_;
  Fd server_, file_;
};

void* new_page() {
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) give_up("mmap");
  return page;
}

void become_the_attacker(pid_t parent) {
  const auto uid = static_cast<uid_t>(std::atoi(std::getenv("ATTACK_UID")));
  if (::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0) give_up("setresuid");
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // which a change of the user takes away
  if (::getppid() != parent) std::_Exit(2);
}

// One process: a word that answers while it is registered and never again, and one that never does.
void register_silent_words(const HungFile& hung, int number, int done) {
  void* const pages[] = {new_page(), new_page()};
  hung.put_at(pages[1]);
  const Segment mine = attach();
  ipc::FileIdentity identity;
  const Fd file = open_file(identity);
  if (!file) return;
  const std::string text = "silent_" + std::to_string(number) + " u32 x";
  ipc::Request request{.operation = Operation::kRegister,
                       .text_size = static_cast<std::uint32_t>(text.size()),
                       .file_slot = identity.slot,
                       .file_generation = identity.generation,
                       .a = reinterpret_cast<std::uintptr_t>(pages[0]),
                       .b = 0,
                       .c = 4};
  std::ignore = ipc::ask(mine.connection.get(), request, text);
  hung.put_at(pages[0]);
  // Whoever waits for the page has the lock of all this memory: from here on nothing may be mapped, or this process
  // waits, too. So neither for the answer.
  request.a = reinterpret_cast<std::uintptr_t>(pages[1]);
  std::ignore = ipc::send(mine.connection.get(), std::as_bytes(std::span(&request, 1)), std::as_bytes(std::span(text)));
  ::close(done);
  for (;;) ::pause();
}

void words(int count) {
  HungFile hung(program_invocation_name);
  int ends[2];
  if (::pipe(ends) != 0) give_up("pipe");
  const pid_t parent = ::getpid();
  for (int i = 0; i < count; ++i) {
    if (::fork() != 0) continue;
    hung.open();
    become_the_attacker(parent);
    ::close(ends[0]);
    register_silent_words(hung, i, ends[1]);
    std::_Exit(1);
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
  const auto round = [bytes, size = mine.bytes] {
    for (std::uint64_t at = sizeof(plan::DataSegment); at < size; at += 4096) bytes[at] = 1;
  };
  char byte;
  do {
    round();
    say("ready");
  } while (::read(STDIN_FILENO, &byte, 1) > 0);
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

// -- switches -------------------------------------------------------------------------------------------------------

void switches(int) {
  const Segment mine = attach();
  if (mine.data == nullptr) give_up("attach");
  const auto round = [&] {
    // Thrown, and newer than whatever others throw.
    for (plan::Cell& cell : mine.data->cells) __atomic_store_n(&cell.own, ~0ull, __ATOMIC_RELEASE);
    __atomic_fetch_add(&mine.data->attention, 1, __ATOMIC_RELEASE);
    ::syscall(SYS_futex, &mine.data->attention, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  };
  round();
  say("ready");
  for (;;) {
    ::usleep(1000);
    round();
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

constexpr unsigned kLongest_s = 300;  // whoever should have ended it

int run(int argc, char** argv) {
  const std::map<std::string, void (*)(int)> attacks = {
      {"readers", readers}, {"connections", connections}, {"requests", requests}, {"words", words},
      {"memory", memory},   {"scribble", scribble},       {"switches", switches}, {"users", users}};
  const auto attack = attacks.find(argc > 1 ? argv[1] : "");
  if (attack == attacks.end()) give_up("attack: no such attack");
  ::alarm(kLongest_s);
  attack->second(argc > 2 ? std::atoi(argv[2]) : 0);
  return 0;
}

}  // namespace
}  // namespace landtrace

int main(int argc, char** argv) { return landtrace::run(argc, argv); }
