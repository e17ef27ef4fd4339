#include "client/helper.hpp"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/own_threads.hpp"
#include "base/system_call.hpp"
#include "client/event_list.hpp"
#include "client/owner_trace.hpp"
#include "client/socket_watch.hpp"
#include "plan/thread_slots.hpp"

namespace landtrace::client::helper {
namespace {

constexpr std::size_t kStack = 128u << 10;
constexpr int kPatience_ms = 3'000;
// An owner that sends us away is asked again ever less often.
constexpr int kFirstPause_ms = 10;
constexpr int kLongestPause_ms = 10'000;
// What an owner has refused it may take later, when others' events have gone.
constexpr int kFirstTry_ms = 1'000;
constexpr int kLongestTry_ms = 60'000;
// Most children call exec, or end, before this: their helper costs them its making and no more.
constexpr int kChildsPause_ms = 20;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_t thread;
std::uint32_t thread_id = 0;  // 0: has not run yet
bool running = false;
bool restarting = false;
bool content = false;  // waits_for_good(); of the list's lock
bool wanted = true;
bool forked = false;  // this process is a child: its parent's connection holds the events, and not for ever
// The events hang on the connection of a helper, which ends with its process; else on the program's own, which children
// have.
bool holds_events = false;

// A descriptor table with nothing in it.
bool leave_descriptors() {
  constexpr unsigned kUnshare = 1u << 1;  // CLOSE_RANGE_UNSHARE, Linux 5.9
#ifdef SYS_close_range
  // By libc's function, so that the shim learns of it, if there is one: what this thread closes is not the program's.
  // The shim spares its own connection, which is not to be kept open by this thread.
  if (::syscall(SYS_close_range, 0u, UINT_MAX, kUnshare) != 0) return false;
  return system_call(SYS_close_range, 0u, UINT_MAX, 0u) == 0;
#else
  return false;
#endif
}

// Until the other end closes the connection (or says something): true; or the time is over. Only here, and where there
// is no owner, is the thread ended.
bool wait_for_end(int fd, short events, int timeout_ms) {
  pollfd end{fd, events, 0};
  int before;
  int ready;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
  while ((ready = ::poll(&end, fd < 0 ? 0 : 1, timeout_ms)) < 0 && errno == EINTR) continue;
  pthread_setcancelstate(before, nullptr);
  return ready != 0;
}

// Makes the owner at the other end the process's. 0 or an errno.
int meet(int fd) {
  ipc::set_timeout(fd, kPatience_ms);
  int fds[2];
  const ipc::PlainAnswer answer = ipc::ask_plain(fd, {.operation = ipc::Operation::kAttach}, &fds);
  int error = answer.error;
  if (error == 0) {
    const ListLocked list;
    const Attachment* const before = Process::current();
    if (!Process::get().adopt_owner(answer.reply, fds)) error = EPROTO;
    if (error == 0) let_owner_trace(fd);
    // What an earlier helper's connection held has gone with it.
    if (error == 0 && (before != Process::current() || forked || holds_events)) {
      register_all_on(fd);
      holds_events = true;
    }
  }
  for (const int memory : fds) {
    if (memory >= 0) ::close(memory);
  }
  return error;
}

// Of an owner that has the process's events, or refuses some of them.
void wait_for_owners_end(int fd) {
  for (int pause_ms = kFirstTry_ms;; pause_ms = std::min(pause_ms * 2, kLongestTry_ms)) {
    bool for_good;
    {
      const ListLocked list;
      content = for_good = all_have_places();
    }
    const bool has_ended = wait_for_end(fd, POLLRDHUP, for_good ? -1 : pause_ms);
    const ListLocked list;
    content = false;
    if (has_ended) return;
    register_rest_on(fd);
    holds_events = true;
  }
}

// True where there is one.
bool silence_orphan() {
  const ListLocked list;
  const bool is_orphan = Process::is_orphaned();
  if (is_orphan) silence_all();
  return is_orphan;
}

void* run(void*) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  // Pairs with the acquire load in stop().
  __atomic_store_n(&thread_id, static_cast<std::uint32_t>(::syscall(SYS_gettid)), __ATOMIC_RELEASE);
  ::prctl(PR_SET_NAME, kHelperThreadName);  // also where there is no /proc, by which its maker does it
  if (forked && !holds_events) wait_for_end(-1, 0, kChildsPause_ms);
  if (!leave_descriptors()) return nullptr;
  int pause_ms = kFirstPause_ms;
  for (;;) {
    char path[108];
    Process::get().copy_socket_path(path);
    int fd = connect_to_owner(path);
    if (fd < 0) {
      silence_orphan();  // its owner may have died before this thread knew it
      fd = wait_for_owner(path);
    }
    const int error = meet(fd);
    if (error == 0) {
      wait_for_owners_end(fd);
    } else {
      // One that does not answer may yet; one that refuses us may give way to another.
      wait_for_end(fd, error == EAGAIN ? POLLIN | POLLRDHUP : POLLRDHUP, -1);
    }
    ::close(fd);
    const bool has_died = silence_orphan() && error == 0;
    pause_ms = has_died ? kFirstPause_ms : std::min(pause_ms * 2, kLongestPause_ms);
    if (!has_died) wait_for_end(-1, 0, pause_ms / 2);
  }
}

// With the lock held.
int make_thread() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::max<std::size_t>(kStack, PTHREAD_STACK_MIN));
  thread_id = 0;
  content = false;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int error = pthread_create(&thread, &attributes, run, nullptr);
  // A program with much thread-local data needs more.
  if (error == EINVAL) error = pthread_create(&thread, nullptr, run, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  running = error == 0;
  if (running) pthread_setname_np(thread, kHelperThreadName);
  return -error;
}

void in_child() {
  unlock_list_in_child();
  pthread_mutex_init(&lock, nullptr);
  if (!running && !restarting) return;
  running = restarting = false;
  forked = true;
  Process::get().after_fork();
  make_thread();
}

bool is_switched_off() {
  const char* const said = ::secure_getenv("LANDTRACE_HELPER");
  return said != nullptr && std::strcmp(said, "0") == 0;
}

}  // namespace

void set_wanted(bool is_wanted) {
  pthread_mutex_lock(&lock);
  wanted = is_wanted;
  pthread_mutex_unlock(&lock);
}

int start() {
  static const bool off = is_switched_off() || !backend_allowed("domain");
  if (off) return 0;
  static const int handlers = pthread_atfork(lock_list_for_fork, unlock_list_in_parent, in_child);
  if (handlers != 0) return -handlers;
  std::ignore = naming_is_switched_off();  // looks at the environment, which is not that thread's to do
  pthread_mutex_lock(&lock);
  const int result = running || !wanted ? 0 : make_thread();
  pthread_mutex_unlock(&lock);
  return result;
}

void stop() {
  pthread_mutex_lock(&lock);
  const bool was_running = std::exchange(running, false);
  const pthread_t ended = thread;
  pthread_mutex_unlock(&lock);
  if (!was_running) return;
  pthread_cancel(ended);
  pthread_join(ended, nullptr);
  // A thread that was joined is there for some more microseconds, or for as long as the kernel needs to take down what
  // it watched; unshare() would find two. Pairs with the release store in run().
  const std::uint32_t id = __atomic_load_n(&thread_id, __ATOMIC_ACQUIRE);
  const auto pid = static_cast<std::uint32_t>(::getpid());
  constexpr int kYields = 1'000;
  constexpr int kMaxTurns = kYields + 5'000;
  for (int i = 0; i < kMaxTurns && id != 0 && !plan::thread_is_gone(pid, id); ++i) {
    if (i < kYields) {
      ::sched_yield();
    } else {
      ::usleep(1'000);
    }
  }
}

bool waits_for_good() { return content; }

void restart() {
  pthread_mutex_lock(&lock);
  restarting = restarting || running;
  pthread_mutex_unlock(&lock);
  stop();
  const ListLocked list;
  if (!list_is_empty()) start();
  restarting = false;
}

}  // namespace landtrace::client::helper
