#include "preload/data_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "client/locked.hpp"
#include "client/process.hpp"
#include "ipc/path.hpp"
#include "ipc/socket.hpp"
#include "preload/real.hpp"
#include "preload/reopen.hpp"
#include "preload/user_memory.hpp"

namespace landtrace::preload {
namespace {

// Only the domain's own sockets count: anybody could send something that looks like an identity.
bool leads_to_domain(int fd) {
  sockaddr_un peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sun_family != AF_UNIX) return false;
  if (!ipc::is_trusted_peer(fd)) return false;
  // Where the process is attached, whatever its environment, and whoever serves the user's own place, says by now.
  if (client::Process::is_attached()) return std::strcmp(client::Process::get().socket_path(), peer.sun_path) == 0;
  return ipc::default_socket() == peer.sun_path;
}

// The owner leaves the identity in the socket after it was asked; it stays there for whoever looks later.
Result<ipc::FileIdentity> wait_for_identity(int fd) {
  pollfd answer{fd, POLLIN, 0};
  constexpr int kPatience_ms = 3'000;
  int ready;
  while ((ready = ::poll(&answer, 1, kPatience_ms)) < 0) {
    if (errno != EINTR) return fail(errno);
  }
  if (ready == 0) return fail(ETIMEDOUT);
  auto identity = ipc::peek_identity(fd);
  return identity ? std::move(identity) : fail(ipc::refusal_of_file(fd));
}

Result<Fd> connect_file(bool cloexec) {
  LT_TRY(Fd fd, ipc::connect_to(client::Process::get().socket_path(), cloexec));
  const ipc::Request request{.operation = ipc::Operation::kOpenFile};
  const auto sent = ipc::send(fd.get(), std::as_bytes(std::span(&request, 1)), {});
  // An owner that has ended the connection may have said why.
  if (!sent && !ipc::nobody_answers(sent.error().code)) return tl::unexpected<Error>(sent.error());
  return fd;
}

}  // namespace

bool names_data_file(const char* path) {
  static constexpr char kName[] = "user_events_data";
  constexpr std::size_t kLength = sizeof kName - 1;
  const std::size_t length = std::strlen(path);
  if (length < kLength || std::memcmp(path + length - kLength, kName, kLength) != 0) return false;
  return length == kLength || path[length - kLength - 1] == '/';
}

int not_opened(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ECONNREFUSED:
    // Where no domain can be: a socket of another kind, a path that is too long for one.
    case EPROTOTYPE:
    case ENAMETOOLONG:
      return kNoDomain;
    case EPERM:
      errno = EACCES;
      break;
    case EAGAIN:
      errno = ETIMEDOUT;
      break;
    case EPIPE:  // it ends just now: as the ioctls of an open file
    case ECONNRESET:
      errno = ENODEV;
      break;
    case ENOSPC:  // it has as many users as it can
      errno = ENFILE;
      break;
    default:
      errno = error;
  }
  return kUnreached;
}

int open_data_file(int flags) {
  // It may be cancelled before it begins, but not in the middle.
  const client::NoCancellation no_cancellation;
  if (const int error = client::Process::get().attach_or_why(); error != 0) return not_opened(error);
  auto fd = connect_file((flags & O_CLOEXEC) != 0);
  if (!fd) return not_opened(fd.error().code);
  const auto identity = wait_for_identity(fd->get());
  if (!identity) return not_opened(identity.error().code);
  if (identity->error != 0) {
    errno = identity->error;
    return -1;
  }
  const auto access = static_cast<std::uint16_t>(flags & O_ACCMODE);
  const FdEntry entry{identity->generation, static_cast<std::uint16_t>(identity->slot), access};
  if (!has_own_descriptors() && !FdTable::set(fd->get(), entry)) {
    errno = ENOMEM;
    return -1;
  }
  if ((flags & O_NONBLOCK) != 0) real().fcntl(fd->get(), F_SETFL, reinterpret_cast<void*>(O_RDWR | O_NONBLOCK));
  client::Process::place();  // finds the thread its place now, so that its first event is like the others
  return fd->release();
}

namespace {

// By what the descriptor itself leads to; generation 0: it is none of ours.
FdEntry identify(int fd) {
  const auto identity = ipc::peek_identity(fd);
  if (!identity || identity->generation == 0 || !leads_to_domain(fd)) return {};
  return {identity->generation, static_cast<std::uint16_t>(identity->slot), O_RDWR};
}

}  // namespace

bool recognise(int fd) {
  const client::NoCancellation no_cancellation;
  const int saved_errno = errno;
  const FdEntry entry = identify(fd);
  const bool ours = entry.generation != 0;
  if (ours && FdTable::set(fd, entry)) {
    // Its owner may have died since the file was opened, and there may be another one, or none yet.
    client::Process& process = client::Process::get();
    if (process.attach()) {
      reopen_if_dead(fd);
    } else {
      process.attach_later();
    }
  }
  errno = saved_errno;
  return ours;
}

FdEntry find_file(int fd) {
  if (const FdEntry known = FdTable::get(fd); known.generation != 0) return known;
  if (has_own_descriptors()) {
    const client::NoCancellation no_cancellation;
    const int saved_errno = errno;
    const FdEntry entry = identify(fd);
    errno = saved_errno;
    return entry;
  }
  recognise(fd);
  return FdTable::get(fd);
}

}  // namespace landtrace::preload
