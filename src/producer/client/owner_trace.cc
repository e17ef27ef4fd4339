#include "client/owner_trace.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <tuple>

#include "ipc/path.hpp"
#include "ipc/socket.hpp"

namespace landtrace::client {
namespace {

constexpr const char* kScopeFile = "/proc/sys/kernel/yama/ptrace_scope";
constexpr int kAncestorsOnly = 1;
// An owner that takes no connections is not waited for when a program starts.
constexpr int kShortPatience_ms = 20;

pid_t named = 0;

// What a process has named its children have not.
void name_again() { ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(named), 0, 0, 0); }

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

void let_owner_trace(int connection) {
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
  if (yama_scope(kScopeFile) != kAncestorsOnly || !ipc::is_trusted_socket(socket)) return;
  const int saved_errno = errno;
  const int fd = ipc::connect_plain(socket, true, kShortPatience_ms);
  if (fd >= 0) {
    let_owner_trace(fd);
    ::close(fd);
  }
  errno = saved_errno;
}

}  // namespace landtrace::client
