// SEQPACKET sockets with descriptors and credentials. Everything here is async-signal-safe but for the allocation of
// a returned std::string, and none of it changes errno on success.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <sys/socket.h>

#include "base/fd.hpp"
#include "ipc/protocol.hpp"

namespace landtrace::ipc {

// Where an owner listens. Connects with close-on-exec as `cloexec` says.
Result<Fd> connect_to(const std::string& path, bool cloexec = true);

// Creates a listening socket at `path`, mode 0666: who may do what is decided by credentials. EADDRINUSE when an
// owner lives there; a socket left by a dead one is replaced.
Result<Fd> listen_at(const std::string& path);

// Makes the kernel attach the sender's credentials to what arrives on `fd`.
Result<void> want_credentials(int fd);

struct Received {
  std::size_t size = 0;  // 0: the other side has closed
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;
  bool has_credentials = false;
  Fd fds[2];
};
// One datagram into `buffer`. EAGAIN on a non-blocking socket without one; EMSGSIZE for one that did not fit.
Result<Received> receive(int fd, std::span<std::byte> buffer, int flags = 0);

// One datagram of two parts, with up to two descriptors (-1: none). Waits for room in the socket.
Result<void> send(int fd, std::span<const std::byte> head, std::span<const std::byte> text, int fd_a = -1,
                  int fd_b = -1);
// The same without waiting: EAGAIN from a receiver that has let its socket fill up.
Result<void> try_send(int fd, std::span<const std::byte> head, std::span<const std::byte> text, int fd_a = -1,
                      int fd_b = -1);

// A request and its reply. The error is the owner's answer (its errno and sentence) or that of the socket;
// EPIPE when the owner is gone.
struct Answer {
  Reply reply;
  std::string text;
  Fd fds[2];
};
Result<Answer> ask(int fd, Request request, std::string_view text = {});

// The identity in a file's connection, without taking it out. EBADF for any other descriptor.
Result<FileIdentity> peek_identity(int fd);

}  // namespace landtrace::ipc
