// liblandtrace-agent.so: it carries out in a program what the domain wants to be probed. Who loads it: the shim, the
// library, and `landtrace attach`; they call landtrace_agent_start() then. It attaches to the domain by itself, patches
// what is wanted already before it returns, and has a thread from then on that follows changes.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iterator>
#include <new>
#include <utility>

#include "agent/agent.hpp"
#include "agent/other_threads.hpp"
#include "agent/presence.hpp"
#include "agent_object/hits.hpp"
#include "agent_object/sites.hpp"
#include "agent_object/vdso.hpp"
#include "base/own_threads.hpp"
#include "base/system_call.hpp"
#include "client/locked.hpp"
#include "client/process.hpp"
#include "plan/program_memory.hpp"

extern "C" {
__attribute__((visibility("default"))) constinit landtrace::agent::Presence landtrace_agent_presence{
    landtrace::agent::kPresenceMagic, 0, 0, 0, {}};
}

namespace landtrace::agent_object {
namespace {

alignas(4096) std::byte stack[256u << 10];
constexpr Stack kStack{stack, sizeof stack};
// While calls are in progress whose returns are probed, what they leave behind is looked for.
constexpr long kTend_ms = 100;
// An owner that dies tells nobody.
constexpr long kLook_ms = 1000;
// A thread that is about to end takes microseconds, on a busy machine seconds. Who goes on before it is gone is refused
// what it wants by the kernel; who waits for one that never goes, forever.
constexpr long kLeave_ms = 60'000;
// Where one cannot wait for two things at once, before Linux 5.16.
constexpr long kPoll_ms = 50;

// As in <linux/futex.h> of 5.16.
struct Waiter {
  std::uint64_t value;
  std::uint64_t address;
  std::uint32_t flags;
  std::uint32_t reserved;
};
constexpr std::uint32_t kFutex32 = 2;
constexpr std::uint32_t kFutexPrivate = 128;
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

timespec after_ms(long ms) {
  timespec now{};
  system_call(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  now.tv_sec += ms / 1000;
  now.tv_nsec += ms % 1000 * 1'000'000;
  if (now.tv_nsec >= 1'000'000'000) {
    now.tv_nsec -= 1'000'000'000;
    ++now.tv_sec;
  }
  return now;
}

bool is_before(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

// A futex: the thread is to end.
std::uint32_t thread_ends = 0;

class Loop {
 public:
  // In whichever thread loads this.
  void begin() {
    agent_.listen_to_loader();
    look();
  }
  void wait() const {
    const client::Attachment* const attachment = client::Process::current();
    const std::uint32_t* const changes = &attachment->view.control->probe_changes;
    const std::uint32_t* const loaded = &agent::loader_changes().changed;
    const long limit_ms = agent::slots_in_use() > 0 ? kTend_ms : kLook_ms;
    const Waiter all[] = {{sites_.changes(), reinterpret_cast<std::uint64_t>(changes), kFutex32, 0},
                          {loads_, reinterpret_cast<std::uint64_t>(loaded), kFutex32 | kFutexPrivate, 0},
                          {0, reinterpret_cast<std::uint64_t>(&thread_ends), kFutex32 | kFutexPrivate, 0}};
    const timespec until = after_ms(limit_ms);
    const long woken = system_call(SYS_futex_waitv, all, std::size(all), 0, &until, CLOCK_MONOTONIC);
    // Else it is not there, or seccomp does not allow it.
    if (woken >= 0 || woken == -EAGAIN || woken == -EINTR || woken == -ETIMEDOUT) return;
    const timespec pause{0, kPoll_ms * 1'000'000};
    system_call(SYS_futex, changes, FUTEX_WAIT, sites_.changes(), &pause);
  }

  void be_child() { agent_.after_fork(); }
  // A round: whatever there is to do.
  void look() {
    const bool has_owner = find_owner();
    const client::Place* const place = client::Process::place();
    // Pairs with the release in the loader's stub: what has come is in its list.
    const std::uint32_t loads = __atomic_load_n(&agent::loader_changes().changed, __ATOMIC_ACQUIRE);
    if (loads != loads_ || !agent_.hears_of_objects()) agent_.look_at_objects();
    if (std::exchange(loads_, loads) != loads) sites_.show_again();
    agent::loader_changes_seen(loads);
    // Programs that nobody listens to any more are to see that, by their reference counters, and run as before.
    if (has_owner && place != nullptr) {
      sites_.follow(*place);
    } else {
      sites_.let_all_go();
    }
    agent_.tend();
    if (has_owner && sites_.has_busy()) sites_.show_again();
  }

 private:
  bool find_owner() {
    client::Process& process = client::Process::get();
    if (client::Process::is_orphaned() && !process.join_next_owner()) {
      show_owner(0);
      return false;
    }
    const client::Attachment* const attachment = client::Process::current();
    if (std::exchange(attachment_, attachment) != attachment) {
      const ipc::PlainAnswer about = process.ask_plain({.operation = ipc::Operation::kAbout});
      show_owner(about.error == 0 ? static_cast<std::uint32_t>(about.reply.a) : 0);
    }
    return true;
  }
  static void show_owner(std::uint32_t pid) {
    __atomic_store_n(&landtrace_agent_presence.owner, pid, __ATOMIC_RELAXED);
  }

  agent::Agent agent_;
  Sites sites_{agent_};
  const client::Attachment* attachment_ = nullptr;
  std::uint32_t loads_ = 0;
};

alignas(Loop) char storage[sizeof(Loop)];
Loop* loop = nullptr;
// Who has it begins the loop, or goes through a round; and whoever forks, so that no child finds that half done.
pthread_mutex_t looking = PTHREAD_MUTEX_INITIALIZER;

void look() {
  pthread_mutex_lock(&looking);
  loop->look();
  pthread_mutex_unlock(&looking);
}

pthread_t thread;
std::uint32_t thread_id = 0;
// The process that the thread is in; 0: there is none. A vfork child has another one, and this memory.
pid_t thread_of = 0;
// By the shim, for a while: so many of the program's threads want it away at the moment, and it was ended for them.
std::uint32_t pausings = 0;
bool is_to_come_back = false;
// None is made any more, in children neither: it would have the filter of system calls of who makes it.
bool is_sealed = false;

// What the program's threads hold back, in whose place this one is where it is the last.
sigset_t signals_of_program;

void* run(void*) {
  agent::ignore_this_thread();
  // Has no partner but for pthread_join().
  __atomic_store_n(&thread_id, static_cast<std::uint32_t>(system_call(SYS_gettid)), __ATOMIC_RELAXED);
  ::prctl(PR_SET_NAME, kAgentThreadName);  // also where there is no /proc, by which its maker does it
  // Pairs with the release store in end_thread().
  while (__atomic_load_n(&thread_ends, __ATOMIC_ACQUIRE) == 0) {
    loop->wait();
    // The program ends with its last thread, and runs its handlers of exit() there.
    if (program_has_ended()) {
      pthread_sigmask(SIG_SETMASK, &signals_of_program, nullptr);
      break;
    }
    look();
  }
  return nullptr;
}

// It is gone when this returns, also for unshare(), which would still see a thread that is about to end. False: there
// was none.
bool end_thread() {
  const pid_t self = static_cast<pid_t>(system_call(SYS_getpid));
  if (thread_of != self) return false;
  // Pairs with the acquire load in run().
  __atomic_store_n(&thread_ends, 1, __ATOMIC_RELEASE);
  system_call(SYS_futex, &thread_ends, FUTEX_WAKE_PRIVATE, INT_MAX);
  pthread_join(thread, nullptr);
  constexpr timespec kPause{0, 100'000};
  const timespec limit = after_ms(kLeave_ms);
  while (system_call(SYS_tgkill, self, thread_id, 0) == 0 && is_before(after_ms(0), limit)) {
    system_call(SYS_nanosleep, &kPause, static_cast<void*>(nullptr));
  }
  thread_of = 0;
  return true;
}

void start_thread() {
  thread_ends = 0;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, kStack.begin, kStack.size);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals_of_program);
  // Without it the program keeps the probes that it has.
  if (pthread_create(&thread, &attributes, run, nullptr) == 0) {
    pthread_setname_np(thread, kAgentThreadName);
    thread_of = static_cast<pid_t>(system_call(SYS_getpid));
  }
  pthread_sigmask(SIG_SETMASK, &signals_of_program, nullptr);
  pthread_attr_destroy(&attributes);
}

// Of who forks, as long as it has the lock: a handler that forks, too, would wait for its own thread.
sigset_t signals_of_forking;

// In the program's own thread, whose calls of the same functions count.
void before_fork() {
  const agent::Ignored ours;
  sigset_t others;
  sigset_t before;
  sigfillset(&others);
  // What comes of what the thread itself does cannot wait.
  for (const int own : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) sigdelset(&others, own);
  pthread_sigmask(SIG_BLOCK, &others, &before);
  pthread_mutex_lock(&looking);
  signals_of_forking = before;
}
void in_parent() {
  const agent::Ignored ours;
  const sigset_t before = signals_of_forking;
  pthread_mutex_unlock(&looking);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void set_time_source(arch::TimeSource source) {
  client::Process::set_time_source(source);
  agent::make_no_calls(source == arch::TimeSource::kMemory);
}

const client::ChildListener kChildListener = {client::Process::expect_child, client::Process::child_is_gone,
                                              set_time_source};

// The shim's, whichever of the two was loaded first. Whoever asks the loader waits for a thread that is loading, whose
// constructors may wait for us: never with a lock of ours held, and never while threads are stopped.
struct OfShim {
  const client::ChildListener** child_listener =
      static_cast<const client::ChildListener**>(::dlsym(RTLD_DEFAULT, "landtrace_child_listener"));
  const client::NamedTracer* named_tracer =
      static_cast<const client::NamedTracer*>(::dlsym(RTLD_DEFAULT, "landtrace_named_tracer"));
  const std::uint32_t* filters = static_cast<const std::uint32_t*>(::dlsym(RTLD_DEFAULT, "landtrace_filters"));
};

void hear_of_children(const OfShim& shim) {
  if (shim.child_listener == nullptr) return;
  // Pairs with the acquire load in preload/children.cc.
  __atomic_store_n(shim.child_listener, &kChildListener, __ATOMIC_RELEASE);
}

const client::NamedTracer* named_tracer = nullptr;

// Whom the program has named, as far as the shim has seen it. Else the owner, whom programs name by themselves
// (client/owner_trace.hpp).
unsigned long usual_tracer() {
  if (named_tracer != nullptr && named_tracer->process == static_cast<std::uint32_t>(::getpid())) {
    return named_tracer->whom;
  }
  ucred owner{};
  socklen_t size = sizeof owner;
  const int connection = client::Process::get().control_fd();
  const bool is_known = connection >= 0 && ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &owner, &size) == 0;
  return is_known && owner.uid == ::geteuid() && owner.pid > 0 ? static_cast<unsigned long>(owner.pid) : 0;
}

pthread_mutex_t starting = PTHREAD_MUTEX_INITIALIZER;

void be_child() {
  pthread_mutex_init(&looking, nullptr);
  pthread_mutex_init(&starting, nullptr);
  client::Process::get().after_fork();
  if (loop == nullptr) return;
  loop->be_child();
  thread_of = 0;
  pausings = 0;
  is_to_come_back = false;
  if (!is_sealed) start_thread();
}

void in_child() {
  const agent::Ignored ours;
  be_child();
  signals_of_program = signals_of_forking;
  pthread_sigmask(SIG_SETMASK, &signals_of_forking, nullptr);
}

void pause_thread() {
  ++pausings;
  if (end_thread()) is_to_come_back = true;
}

void unpause_thread() {
  if (pausings == 0 || --pausings > 0) return;
  if (std::exchange(is_to_come_back, false) && !is_sealed) start_thread();
}

int join_again(const char* socket) {
  client::Process& process = client::Process::get();
  if (!client::Process::is_orphaned()) {
    return socket == nullptr || std::strcmp(process.socket_path(), socket) == 0 ? 0 : EBUSY;
  }
  if (socket != nullptr && !process.look_at(socket)) return ENAMETOOLONG;
  look();
  return client::Process::is_orphaned() ? ECONNREFUSED : 0;
}

int begin(const char* socket, const OfShim& shim) {
  if (loop != nullptr) return join_again(socket);
  find_vdso();
  if (const int error = client::Process::get().attach_or_why(socket); error != 0) return error;
  hear_of_children(shim);
  named_tracer = shim.named_tracer;
  if (shim.filters != nullptr) plan::set_filters(shim.filters);
  agent::set_usual_tracer(usual_tracer);
  lead_hits_to_plans();
  // Before anything is held in here that a child of another thread would miss: the loader's lock, too.
  ::pthread_atfork(before_fork, in_parent, in_child);
  pthread_mutex_lock(&looking);
  loop = new (storage) Loop;  // never destroyed: its thread, and the stubs, are there until the end
  loop->begin();
  pthread_mutex_unlock(&looking);
  start_thread();
  return 0;
}

}  // namespace

const Stack& own_stack() { return kStack; }

}  // namespace landtrace::agent_object

// What the domain wants by now is patched when it returns. For programs that switch probes of their own on; nothing
// where landtrace_agent_start() has not succeeded.
extern "C" __attribute__((visibility("default"))) void landtrace_agent_look() {
  using namespace landtrace;
  const int saved_errno = errno;
  {
    const client::Locked lock(agent_object::starting);
    if (agent_object::loop != nullptr) agent_object::look();
  }
  errno = saved_errno;
}

// By the shim, around what a program with a second thread may not do. 0: there is no thread when it returns; 1: after
// as many calls as of 0 there is one again, if one was ended and another can be made; 2: no other is made from then on,
// in forked children neither, as it would have a filter of system calls that it may not pass. Nothing in a vfork child,
// whose the thread is not.
extern "C" __attribute__((visibility("default"))) void landtrace_agent_set_thread(int wanted) {
  using namespace landtrace;
  if (client::Process::get().is_other_process(static_cast<std::uint32_t>(system_call(SYS_getpid)))) return;
  const int saved_errno = errno;
  {
    const agent::Ignored ours;
    const client::Locked lock(agent_object::starting);
    const bool has_begun = agent_object::loop != nullptr;
    if (has_begun && wanted == 0) agent_object::pause_thread();
    if (has_begun && wanted == 1) agent_object::unpause_thread();
    if (has_begun && wanted == 2) agent_object::is_sealed = true;
  }
  errno = saved_errno;
}

// By whoever has loaded this. `socket`: of the domain; nullptr: of the one that programs attach to when nothing is
// said, and the caller is the program's own thread. 0 or an errno: EBUSY where the process is in another domain, else
// what kept it from attaching. What is wanted already is patched when it returns.
extern "C" __attribute__((visibility("default"))) int landtrace_agent_start(const char* socket) {
  using namespace landtrace;
  const int saved_errno = errno;
  if (socket != nullptr) agent::ignore_this_thread();
  const agent_object::OfShim shim;
  int error = 0;
  {
    const client::Locked lock(agent_object::starting);
    error = agent_object::begin(socket, shim);
    if (error == 0) {
      client::Process::get().copy_socket_path(reinterpret_cast<char(&)[108]>(landtrace_agent_presence.socket));
      // Pairs with nothing: who looks from outside reads the whole, and looks again.
      __atomic_store_n(&landtrace_agent_presence.begun, 1, __ATOMIC_RELEASE);
    }
  }
  errno = saved_errno;
  return error;
}
