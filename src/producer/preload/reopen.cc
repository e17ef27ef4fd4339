#include "preload/reopen.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "arch/thread_time.hpp"
#include "client/locked.hpp"
#include "client/process.hpp"
#include "ipc/socket.hpp"
#include "preload/real.hpp"
#include "preload/status_file.hpp"

namespace landtrace::preload {

int reopen_patience_ms = 100;

namespace {

// Longer than one try takes at worst.
constexpr std::uint64_t kTryAgain_ns = 1'000'000'000;

bool is_same_file(FdEntry a, FdEntry b) { return a.generation == b.generation && a.slot == b.slot; }

constexpr int kNoAnswer = -1;
constexpr int kRefused = -2;

// A connection that has become a file: the descriptor, or one of these.
int connect_as(ipc::Operation operation, FdEntry file, std::uint64_t key, ipc::FileIdentity& identity) {
  const int fd = ipc::connect_plain(client::Process::get().socket_path(), true, reopen_patience_ms);
  if (fd < 0) return kNoAnswer;
  const ipc::Request request{
      .operation = operation, .file_slot = file.slot, .file_generation = file.generation, .b = ipc::with_key(key)};
  ssize_t sent;
  do {
    sent = ::send(fd, &request, sizeof request, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  pollfd answer{fd, POLLIN, 0};
  const bool asked = sent == static_cast<ssize_t>(sizeof request);
  // An owner that answers later is to find that nobody listens, and not a file that was opened and closed.
  if (asked && ::poll(&answer, 1, reopen_patience_ms) != 1) ::shutdown(fd, SHUT_RD);
  const auto known = asked ? ipc::peek_identity(fd) : Result<ipc::FileIdentity>(fail(EBADF));
  if (known && known->error == 0) {
    identity = *known;
    return fd;
  }
  real().close(fd);
  return known ? kRefused : kNoAnswer;
}

// Another thread may be closing the descriptor, and the number may be another file's right after: the table's lock
// keeps it until the new file is in its place.
void replace(int fd, FdEntry file, int socket, FdEntry fresh) {
  if (!FdTable::lock(fd, file)) return;
  const auto identity = ipc::peek_identity(fd);
  const bool is_that_file = identity && identity->generation == file.generation && identity->slot == file.slot;
  if (!is_that_file) return FdTable::unlock(fd, {});  // closed past the shim
  const int flags = real().fcntl(fd, F_GETFD, nullptr);
  const bool cloexec = flags >= 0 && (flags & FD_CLOEXEC) != 0;
  fresh.access = file.access;
  const bool replaced = real().dup3(socket, fd, cloexec ? O_CLOEXEC : 0) == fd;
  FdTable::unlock(fd, replaced ? fresh : file);
}

// All descriptors from `first` on that are this file.
void reopen_from(int first, FdEntry file) {
  const auto known = ipc::peek_identity(first);
  const std::uint64_t key = known ? known->key : 0;
  ipc::FileIdentity identity;
  int socket = connect_as(ipc::Operation::kReopenFile, file, key, identity);
  // An owner that has not answered in time has the file all the same, under the number that we know.
  if (socket == kRefused) socket = connect_as(ipc::Operation::kOpenFile, file, 0, identity);
  if (socket < 0) return;
  const int flags = real().fcntl(first, F_GETFL, nullptr);
  if (flags >= 0 && (flags & O_NONBLOCK) != 0) {
    real().fcntl(socket, F_SETFL, reinterpret_cast<void*>(O_RDWR | O_NONBLOCK));
  }
  const FdEntry fresh{identity.generation, static_cast<std::uint16_t>(identity.slot), 0};
  for (int fd = first; fd < static_cast<int>(FdTable::end()); ++fd) {
    if (const FdEntry entry = FdTable::get(fd); is_same_file(entry, file)) replace(fd, entry, socket, fresh);
  }
  real().close(socket);
}

bool is_known_below(int fd, FdEntry file) {
  for (int below = 0; below < fd; ++below) {
    if (is_same_file(FdTable::get(below), file)) return true;
  }
  return false;
}

bool is_dead(int fd) {
  pollfd state{fd, 0, 0};
  return ::poll(&state, 1, 0) == 1 && (state.revents & POLLHUP) != 0;
}

}  // namespace

void reopen_files() {
  for (int fd = 0; fd < static_cast<int>(FdTable::end()); ++fd) {
    const FdEntry file = FdTable::get(fd);
    if (file.is_data_file() && !is_known_below(fd, file)) reopen_from(fd, file);
  }
}

void reopen_if_dead(int fd) {
  if (!is_dead(fd)) return;
  const client::SignalsBlocked signals;
  const FdEntry file = FdTable::get(fd);
  if (file.is_data_file() && !client::Process::is_orphaned()) reopen_from(fd, file);
}

bool reopen_late(int fd) {
  if (!arch::may_call()) return true;
  const client::NoCancellation no_cancellation;
  const int saved_errno = errno;
  const std::uint64_t now = arch::tick_ns();
  // One thread at a time, and none of two that come here at once: neither would know what the other has done. A
  // number that orders nothing, without a partner.
  static std::uint64_t next_try_ns = 0;
  std::uint64_t next = __atomic_load_n(&next_try_ns, __ATOMIC_RELAXED);
  if (now >= next && is_dead(fd) &&
      __atomic_compare_exchange_n(&next_try_ns, &next, now + kTryAgain_ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    reopen_if_dead(fd);
  }
  const bool is_alive = !is_dead(fd);
  errno = saved_errno;
  return is_alive;
}

}  // namespace landtrace::preload
