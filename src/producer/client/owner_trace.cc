#include "client/owner_trace.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "base/system_call.hpp"
#include "client/process.hpp"
#include "ipc/path.hpp"
#include "ipc/socket.hpp"

// The shim's, where there is one.
extern "C" __attribute__((weak, visibility("default"))) landtrace::client::NamedTracer landtrace_named_tracer;

namespace landtrace::client {
namespace {

constexpr const char* kScopeFile = "/proc/sys/kernel/yama/ptrace_scope";
constexpr int kAncestorsOnly = 1;
// An owner that takes no connections is not waited for when a program starts.
constexpr int kShortPatience_ms = 20;

pid_t named = 0;
bool wanted = true;

bool program_has_named_one() {
  const NamedTracer* const theirs = &landtrace_named_tracer;
  return theirs != nullptr && theirs->whom != 0 && theirs->process == static_cast<std::uint32_t>(::getpid());
}

// What a process has named its children have not. By the call itself: the shim takes libc's to be the program's.
void name_again() {
  // Without a partner: nothing else is read by it.
  if (!__atomic_load_n(&wanted, __ATOMIC_RELAXED) || program_has_named_one()) return;
  system_call(SYS_prctl, PR_SET_PTRACER, named, 0, 0, 0);
}

void name(pid_t owner) {
  static const int handlers = pthread_atfork(nullptr, nullptr, name_again);
  std::ignore = handlers;
  named = owner;
  name_again();
}

}  // namespace

int yama_scope(const char* file) {
  const int fd = ::open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  char digit = 0;
  const ssize_t size = ::read(fd, &digit, 1);
  ::close(fd);
  return size == 1 && digit >= '0' && digit <= '9' ? digit - '0' : -1;
}

// Root needs no name, and above 1 none helps.
pid_t owner_to_name(int scope, std::uint32_t own_uid, const ucred& owner) {
  return scope == kAncestorsOnly && owner.uid == own_uid && owner.pid > 0 ? owner.pid : 0;
}

bool naming_is_switched_off() {
  static const bool off = [] {
    const char* const said = ::secure_getenv("LANDTRACE_PTRACER");
    return said != nullptr && std::strcmp(said, "0") == 0;
  }();
  return off;
}

// Without a partner: see name_again().
void set_naming_wanted(bool is_wanted) { __atomic_store_n(&wanted, is_wanted, __ATOMIC_RELAXED); }

void let_owner_trace(int connection) {
  if (naming_is_switched_off()) return;
  const int saved_errno = errno;
  const int scope = yama_scope(kScopeFile);
  ucred owner{};
  socklen_t size = sizeof owner;
  if (scope >= 0 && ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &owner, &size) == 0) {
    const pid_t whom = owner_to_name(scope, ::geteuid(), owner);
    if (whom != 0) name(whom);
  }
  errno = saved_errno;
}

void let_owner_trace(const char* socket) {
  if (naming_is_switched_off() || yama_scope(kScopeFile) != kAncestorsOnly || !ipc::is_trusted_socket(socket)) return;
  const int saved_errno = errno;
  const int fd = ipc::connect_plain(socket, true, kShortPatience_ms);
  if (fd >= 0) {
    let_owner_trace(fd);
    ::close(fd);
  }
  errno = saved_errno;
}

}  // namespace landtrace::client
