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

// Connects to where an owner listens, with close-on-exec as `cloexec` says. ENOENT or ECONNREFUSED where nobody does,
// ETIMEDOUT where somebody does who takes no connection in time.
Result<Fd> connect_to(const std::string& path, bool cloexec = true);
// A full backlog of an owner that does not accept is not waited for longer.
inline constexpr int kConnectPatience_ms = 5000;
// The same without allocating: a descriptor or a negative errno.
int connect_plain(const char* path, bool cloexec, int patience_ms = kConnectPatience_ms);

// The user who serves the other end, by the kernel's word; -1 if that cannot be told.
std::int64_t peer_uid(int fd);
// Whether that user has, or had when the connection was made, `gid` as a group.
bool peer_is_member(int fd, std::uint32_t gid);
// Sends and receives on `fd` fail with EAGAIN after this long; 0: never.
void set_timeout(int fd, int milliseconds);
// For a person who waits in front of a command.
inline constexpr int kAnswerPatience_ms = 10'000;

// Creates a listening socket at `path`, mode 0666: who may do what is decided by credentials. EADDRINUSE when an
// owner lives there, even if it does not answer; a socket left by a dead one is replaced. EEXIST for anything else.
Result<Fd> listen_at(const std::string& path);

// Makes the kernel attach the sender's credentials to what arrives on `fd`, and refuse descriptors where it can.
Result<void> want_credentials(int fd);
// Takes descriptors on `fd`, or not any more.
void want_descriptors(int fd, bool on);

struct Received {
  std::size_t size = 0;  // 0: the other side has closed
  std::uint32_t pid = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
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

// Whether an error of ask() says that there is no owner to answer, rather than being its answer: gone, never there,
// silent, or not speaking the protocol.
constexpr bool nobody_answers(int code) {
  return code == EPIPE || code == ECONNREFUSED || code == ECONNRESET || code == EPROTO || code == ETIMEDOUT ||
         code == EAGAIN;
}

// A request and its reply. The error is the owner's answer (its errno and sentence) or that of the socket;
// EPIPE when the owner is gone, ETIMEDOUT when it does not answer in the time that `fd` has (set_timeout()); after that
// the connection is no good any more. An owner that takes no clients (ENFILE, EMFILE) says so before it is asked.
struct Answer {
  Reply reply;
  std::string text;
  Fd fds[2];
};
Result<Answer> ask(int fd, Request request, std::string_view text = {}, int descriptor = -1);
// The same where an error that the owner answers with is an answer: `reply.error`, and its sentence in `text`.
Result<Answer> exchange(int fd, Request request, std::string_view text = {}, int descriptor = -1);

// The same for requests without text whose answer is a number, without allocating: for handlers of signals and of fork,
// where another thread may hold the heap's lock. EPIPE when the owner is gone, EAGAIN when it does not answer in time.
struct PlainAnswer {
  int error;  // errno, 0: `reply` is valid
  Reply reply;
};
// Descriptors that come with the answer are put into `fds` (-1: none), for the caller to close.
PlainAnswer ask_plain(int fd, const Request& request, int (*fds)[2] = nullptr);

// Why a connection that was to become a file has no identity in it: the errno with which the owner has refused it;
// EPIPE: it is gone, EPROTO: it said something else. Waits where nothing has come.
int refusal_of_file(int fd);

// The identity in a file's connection, without taking it out. EBADF for any other descriptor.
Result<FileIdentity> peek_identity(int fd);

}  // namespace landtrace::ipc
