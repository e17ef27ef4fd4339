#include "ipc/socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace landtrace::ipc {
namespace {

bool set_path(sockaddr_un& address, const char* path) {
  const std::size_t length = std::strlen(path);
  address.sun_family = AF_UNIX;
  if (length >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path, length + 1);
  return true;
}

Result<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  if (!set_path(address, path.c_str())) {
    return fail(ENAMETOOLONG,
                "socket path longer than " + std::to_string(sizeof address.sun_path - 1) + " bytes: " + path);
  }
  return address;
}

Result<void> wait_for(int fd, short events) {
  pollfd poll_fd{fd, events, 0};
  int ready;
  while ((ready = ::poll(&poll_fd, 1, kConnectPatience_ms)) < 0) {
    if (errno != EINTR) return fail_errno("poll");
  }
  if (ready == 0) return fail(ETIMEDOUT, "the other side does not answer");
  return {};
}

// "PATH", where the other end of a connection was made; "" where it has no name.
std::string path_of_peer(int fd) {
  sockaddr_un peer{};
  socklen_t size = sizeof peer;
  const bool is_named = ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 &&
                        size > offsetof(sockaddr_un, sun_path) && peer.sun_path[0] != '\0';
  return is_named ? std::string(peer.sun_path, ::strnlen(peer.sun_path, sizeof peer.sun_path)) : "";
}

// Says which owner, and which process that is, since a person has to do something about it.
tl::unexpected<Error> no_answer(int fd) {
  const std::string path = path_of_peer(fd);
  ucred who{};
  socklen_t size = sizeof who;
  const bool is_known = ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.pid > 0;
  const std::string pid = is_known ? std::to_string(who.pid) : "";
  std::string text = "the owner of the domain" + (path.empty() ? "" : " at " + path);
  if (is_known) text += ", process " + pid + ",";
  text += " does not answer: it is stopped, or hangs";
  if (is_known) text += "; `kill -CONT " + pid + "` continues it, `kill -KILL " + pid + "` ends it";
  return fail(ETIMEDOUT, std::move(text));
}

tl::unexpected<Error> owner_gone(int fd) {
  const std::string path = path_of_peer(fd);
  return fail(EPIPE, "the owner of the domain" + (path.empty() ? "" : " at " + path) + " is gone");
}

tl::unexpected<Error> not_connected(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ECONNREFUSED:
      return fail(error, "no domain runs at " + path);
    case EAGAIN:  // as connect() says it where the queue has been full for all of the time
      return fail(ETIMEDOUT, path + ": the owner of the domain takes no connections: it is stopped, or hangs");
    case EACCES:
      return fail_errno(path + ": this user may not speak to the domain", error);
    case EPROTOTYPE:
      return fail_errno(path + ": what listens there is no domain", error);
    default:
      return fail_errno("connect to " + path, error);
  }
}

void take_control_messages(msghdr& message, Received& received) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET) continue;
    if (c->cmsg_type == SCM_CREDENTIALS) {
      ucred who;
      std::memcpy(&who, CMSG_DATA(c), sizeof who);
      received.pid = static_cast<std::uint32_t>(who.pid);
      received.uid = who.uid;
      received.gid = who.gid;
      received.has_credentials = true;
    } else if (c->cmsg_type == SCM_RIGHTS) {
      const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int fd;
        std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
        Fd owned(fd);
        if (i < 2) received.fds[i] = std::move(owned);
      }
    }
  }
}

}  // namespace

int connect_plain(const char* path, bool cloexec, int patience_ms) {
  sockaddr_un address{};
  if (!set_path(address, path)) return -ENAMETOOLONG;
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | (cloexec ? SOCK_CLOEXEC : 0), 0);
  if (fd < 0) return -errno;
  set_timeout(fd, patience_ms);
  while (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    ::close(fd);
    return -error;
  }
  set_timeout(fd, 0);
  return fd;
}

Result<Fd> connect_to(const std::string& path, bool cloexec) {
  LT_CHECK(address_of(path));
  const int fd = connect_plain(path.c_str(), cloexec);
  if (fd < 0) return not_connected(path, -fd);
  return Fd(fd);
}

std::int64_t peer_uid(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? std::int64_t{peer.uid} : -1;
}

bool peer_is_member(int fd, std::uint32_t gid) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  if (peer.gid == gid) return true;
  std::vector<gid_t> groups(64);
  size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) {
    if (errno != ERANGE) return false;
    groups.resize(size / sizeof(gid_t));  // as many as there are
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) return false;
  }
  groups.resize(size / sizeof(gid_t));
  return std::find(groups.begin(), groups.end(), gid) != groups.end();
}

void set_timeout(int fd, int milliseconds) {
  const timeval limit{milliseconds / 1000, milliseconds % 1000 * 1000};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

namespace {

// Owners that start at once come one after the other until they listen: else one takes the other's socket for a dead
// owner's. The folder is what both have, and nothing is left in it. Where others may lock it, too, nobody waits long.
Fd lock_folder_of(const std::string& path) {
  constexpr int kTries = 1000;
  const auto slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; fd && i < kTries && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0; ++i) ::usleep(1000);
  return fd;
}

// Takes a dead owner's socket away, and nothing else.
Result<void> make_room_at(const std::string& path) {
  const auto there = connect_to(path);
  if (there) return fail(EADDRINUSE, "an owner serves " + path + " already");
  const Error& why = there.error();
  if (why.code == ETIMEDOUT || why.code == EPROTOTYPE) return fail(EADDRINUSE, why.message);
  if (why.code != ENOENT && why.code != ECONNREFUSED) return tl::unexpected<Error>(why);
  struct stat st {};
  const bool is_something = ::lstat(path.c_str(), &st) == 0 && !S_ISSOCK(st.st_mode) && !S_ISLNK(st.st_mode);
  if (is_something) return fail(EEXIST, path + " is there already, and is no socket");
  ::unlink(path.c_str());
  return {};
}

}  // namespace

Result<Fd> listen_at(const std::string& path) {
  LT_TRY(const sockaddr_un address, address_of(path));
  const Fd lock = lock_folder_of(path);
  LT_CHECK(make_room_at(path));
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return fail_errno("socket");
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail_errno("bind " + path);
  }
  if (::chmod(path.c_str(), 0666) != 0) return fail_errno("chmod " + path);
  if (::listen(fd.get(), 4096) != 0) return fail_errno("listen on " + path);
  // Who watches the folder for an owner (client/socket_watch.cc) hears of attributes, and of listen() nothing.
  if (::chmod(path.c_str(), 0666) != 0) return fail_errno("chmod " + path);
  return fd;
}

Result<void> want_credentials(int fd) {
  const int on = 1;
  if (::setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) return fail_errno("SO_PASSCRED");
  // Where the kernel can, it refuses descriptors that a client sends along: closing one of those could block.
  want_descriptors(fd, false);
  return {};
}

void want_descriptors(int fd, bool on) {
#ifdef SO_PASSRIGHTS
  constexpr int kPassRights = SO_PASSRIGHTS;
#else
  constexpr int kPassRights = 83;  // Linux 6.16
#endif
  const int value = on ? 1 : 0;
  const int saved_errno = errno;
  if (::setsockopt(fd, SOL_SOCKET, kPassRights, &value, sizeof value) != 0) errno = saved_errno;
}

Result<Received> receive(int fd, std::span<std::byte> buffer, int flags) {
  iovec vector{buffer.data(), buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(8 * sizeof(int))];
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const int saved_errno = errno;
  ssize_t n;
  while ((n = ::recvmsg(fd, &message, flags | MSG_CMSG_CLOEXEC)) < 0) {
    if (errno != EINTR) return fail(errno, "recvmsg");
  }
  errno = saved_errno;
  Received received;
  received.size = static_cast<std::size_t>(n);
  take_control_messages(message, received);
  if ((message.msg_flags & MSG_TRUNC) != 0) return fail(EMSGSIZE, "a datagram larger than the protocol's");
  return received;
}

Result<void> try_send(int fd, std::span<const std::byte> head, std::span<const std::byte> text, int fd_a, int fd_b) {
  iovec vectors[2] = {{const_cast<std::byte*>(head.data()), head.size()},
                      {const_cast<std::byte*>(text.data()), text.size()}};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = vectors;
  message.msg_iovlen = text.empty() ? 1 : 2;
  if (fd_a >= 0) {
    const int fds[2] = {fd_a, fd_b};
    const std::size_t bytes = (fd_b >= 0 ? 2 : 1) * sizeof(int);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* const c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(c), fds, bytes);
  }
  const int saved_errno = errno;
  while (::sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    if (errno != EINTR) return fail(errno, "sendmsg");
  }
  errno = saved_errno;
  return {};
}

Result<void> send(int fd, std::span<const std::byte> head, std::span<const std::byte> text, int fd_a, int fd_b) {
  for (;;) {
    auto sent = try_send(fd, head, text, fd_a, fd_b);
    if (sent || sent.error().code != EAGAIN) return sent;
    LT_CHECK(wait_for(fd, POLLOUT));
  }
}

namespace {

// One that was killed with a request unread resets the connection instead of ending it.
bool is_gone(int error) { return error == ECONNRESET || error == EPIPE; }

// What an owner has said before it ended the connection stands behind the news that it has: a refusal is sent unasked,
// and the request may not even have got there.
Result<Received> receive_last_words(int fd, std::span<std::byte> buffer) {
  auto arrived = receive(fd, buffer);
  return arrived || arrived.error().code != ECONNRESET ? std::move(arrived) : receive(fd, buffer);
}

}  // namespace

Result<Answer> exchange(int fd, Request request, std::string_view text, int descriptor) {
  if (text.size() > kMaxText) return fail(E2BIG, "a request longer than the protocol's");
  request.text_size = static_cast<std::uint32_t>(text.size());
  const auto sent = send(fd, std::as_bytes(std::span(&request, 1)), std::as_bytes(std::span(text)), descriptor);
  if (!sent && sent.error().code == ETIMEDOUT) return no_answer(fd);
  if (!sent && !is_gone(sent.error().code)) return tl::unexpected<Error>(sent.error());
  std::string buffer(sizeof(Reply) + kMaxText, '\0');
  auto arrived = receive_last_words(fd, std::as_writable_bytes(std::span(buffer)));
  const bool gone = arrived ? arrived->size == 0 : is_gone(arrived.error().code);
  if (gone) return owner_gone(fd);
  if (!arrived && arrived.error().code == EAGAIN) {
    auto silent = no_answer(fd);
    ::shutdown(fd, SHUT_RDWR);  // the next one to ask must not get this answer
    return silent;
  }
  LT_TRY(Received received, std::move(arrived));
  Answer answer;
  if (received.size < sizeof answer.reply) return fail(EPROTO, "a reply that is too short");
  std::memcpy(&answer.reply, buffer.data(), sizeof answer.reply);
  if (answer.reply.magic != kReplyMagic || received.size != sizeof answer.reply + answer.reply.text_size) {
    return fail(EPROTO, "a reply that is not one");
  }
  answer.text = buffer.substr(sizeof answer.reply, answer.reply.text_size);
  for (int i = 0; i < 2; ++i) answer.fds[i] = std::move(received.fds[i]);
  return answer;
}

Result<Answer> ask(int fd, Request request, std::string_view text, int descriptor) {
  LT_TRY(Answer answer, exchange(fd, request, text, descriptor));
  if (answer.reply.error != 0) return fail(answer.reply.error, std::move(answer.text));
  return answer;
}

namespace {

// The reply into `answer`; an error's sentence is cut off.
ssize_t receive_plain(int fd, PlainAnswer& answer, int (*fds)[2]) {
  iovec vector{&answer.reply, sizeof answer.reply};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof *fds)];
  msghdr message{};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  if (fds != nullptr) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  ssize_t n;
  do {
    n = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  if (n < 0 || fds == nullptr) return n;
  for (const cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, const_cast<cmsghdr*>(c))) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    std::memcpy(*fds, CMSG_DATA(c), std::min<std::size_t>(c->cmsg_len - CMSG_LEN(0), sizeof *fds));
  }
  return n;
}

}  // namespace

PlainAnswer ask_plain(int fd, const Request& request, int (*fds)[2]) {
  const int saved_errno = errno;
  PlainAnswer answer{};
  if (fds != nullptr) (*fds)[0] = (*fds)[1] = -1;
  ssize_t n;
  do {
    n = ::send(fd, &request, sizeof request, MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  if (n >= 0 || is_gone(errno)) n = receive_plain(fd, answer, fds);
  if (n < 0 && errno == ECONNRESET) n = receive_plain(fd, answer, fds);  // its last words
  if (n < 0) {
    answer.error = errno == ECONNRESET ? EPIPE : errno;
  } else if (n == 0) {
    answer.error = EPIPE;
  } else if (n != static_cast<ssize_t>(sizeof answer.reply) || answer.reply.magic != kReplyMagic) {
    answer.error = EPROTO;
  } else {
    answer.error = answer.reply.error;
  }
  errno = saved_errno;
  return answer;
}

int refusal_of_file(int fd) {
  PlainAnswer answer{};
  const int saved_errno = errno;
  ssize_t n = receive_plain(fd, answer, nullptr);
  if (n < 0 && errno == ECONNRESET) n = receive_plain(fd, answer, nullptr);
  const int error = n < 0 ? errno : 0;
  errno = saved_errno;
  if (n == 0 || is_gone(error)) return EPIPE;
  if (error != 0) return error;
  const bool sound = n == static_cast<ssize_t>(sizeof answer.reply) && answer.reply.magic == kReplyMagic;
  return sound && answer.reply.error != 0 ? answer.reply.error : EPROTO;
}

Result<FileIdentity> peek_identity(int fd) {
  FileIdentity identity;
  const int saved_errno = errno;
  ssize_t n = ::recv(fd, &identity, sizeof identity, MSG_PEEK | MSG_DONTWAIT);
  // An owner that was killed with something unread leaves an error in front of it.
  if (n < 0 && errno == ECONNRESET) n = ::recv(fd, &identity, sizeof identity, MSG_PEEK | MSG_DONTWAIT);
  errno = saved_errno;
  if (n < static_cast<ssize_t>(offsetof(FileIdentity, key)) || identity.magic != kIdentityMagic) {
    return fail(EBADF, {});
  }
  return identity;
}

}  // namespace landtrace::ipc
