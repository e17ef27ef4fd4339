// Descriptors that arrive over a socket: one of them may be a user_events_data file that another process opened.
#include <sys/socket.h>

#include <cstring>

#include "client/locked.hpp"
#include "preload/data_file.hpp"
#include "preload/real.hpp"

namespace landtrace::preload {
namespace {

void look_at_descriptors(msghdr* message) {
  if (has_own_descriptors()) return;
  // What has been received would be lost.
  const client::NoCancellation no_cancellation;
  for (cmsghdr* c = CMSG_FIRSTHDR(message); c != nullptr; c = CMSG_NXTHDR(message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
      FdTable::clear(fd);
      recognise(fd);
    }
  }
}

}  // namespace
}  // namespace landtrace::preload

using namespace landtrace::preload;

LT_EXPORT ssize_t recvmsg(int fd, msghdr* message, int flags) {
  const ssize_t n = real().recvmsg(fd, message, flags);
  if (n >= 0 && message->msg_controllen > 0) look_at_descriptors(message);
  return n;
}

LT_EXPORT int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  const int n = real().recvmmsg(fd, messages, count, flags, timeout);
  for (int i = 0; i < n; ++i) {
    if (messages[i].msg_hdr.msg_controllen > 0) look_at_descriptors(&messages[i].msg_hdr);
  }
  return n;
}
