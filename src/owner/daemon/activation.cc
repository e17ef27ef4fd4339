#include "daemon/activation.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace landtrace::daemon {
namespace {

constexpr int kFirstGiven = 3;  // by the protocol
constexpr int kMostGiven = 64;
constexpr int kActivatedBacklog = 4096;

// 0 where it is no number.
int number_of(const char* name) {
  const char* const text = ::secure_getenv(name);
  int number = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

int option(int fd, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

bool listens_at(int fd, const std::string& path) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.sun_family != AF_UNIX) {
    return false;
  }
  return option(fd, SO_TYPE) == SOCK_SEQPACKET && option(fd, SO_ACCEPTCONN) == 1 &&
         path == std::string_view(address.sun_path, ::strnlen(address.sun_path, sizeof address.sun_path));
}

}  // namespace

Result<Fd> activated_socket(const std::string& path) {
  const int count = number_of("LISTEN_PID") == ::getpid() ? number_of("LISTEN_FDS") : 0;
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  Fd found;
  for (int fd = kFirstGiven; fd < kFirstGiven + count && fd < kFirstGiven + kMostGiven; ++fd) {
    Fd given(fd);
    if (!found && listens_at(fd, path)) found = std::move(given);
  }
  if (!found) {
    if (count <= 0) return Fd();
    return fail(EINVAL, "LISTEN_FDS: none of them is a listening SOCK_SEQPACKET socket at " + path);
  }
  ::fcntl(found.get(), F_SETFD, FD_CLOEXEC);
  ::fcntl(found.get(), F_SETFL, O_NONBLOCK);
  // Once more, so that clients see this process at the other end, and not the service manager.
  if (::listen(found.get(), kActivatedBacklog) != 0) return fail_errno("listen on " + path);
  return found;
}

}  // namespace landtrace::daemon
