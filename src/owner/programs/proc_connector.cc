#include "programs/proc_connector.hpp"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstring>

namespace landtrace::programs {
namespace {

constexpr int kMostTries = 100;  // to listen, where others fill the socket

// A message is an nlmsghdr, a cn_msg and, of the kernel's, a proc_event.
constexpr std::size_t kHead = sizeof(nlmsghdr) + sizeof(cn_msg);

Result<void> send_operation(int socket, std::uint32_t operation) {
  nlmsghdr netlink{};
  cn_msg connector{};
  char message[kHead + sizeof operation];
  netlink.nlmsg_len = sizeof message;
  netlink.nlmsg_type = NLMSG_DONE;
  connector.id = {CN_IDX_PROC, CN_VAL_PROC};
  connector.len = sizeof operation;
  std::memcpy(message, &netlink, sizeof netlink);
  std::memcpy(message + sizeof netlink, &connector, sizeof connector);
  std::memcpy(message + kHead, &operation, sizeof operation);
  if (::send(socket, message, sizeof message, 0) < 0) return fail_errno("asking for process events");
  return {};
}

}  // namespace

const std::uint32_t ProcConnector::kWhatAt = kHead + offsetof(proc_event, what);
const std::uint32_t ProcConnector::kIdsAt = kHead + offsetof(proc_event, event_data);

ProcConnector::Received ProcConnector::receive(Message& message) {
  alignas(8) char bytes[512];
  for (;;) {
    sockaddr_nl sender{};
    socklen_t size = sizeof sender;
    const ssize_t n =
        ::recvfrom(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&sender), &size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == ENOBUFS ? Received::kLost : Received::kNothing;
    // Only the kernel has the number 0. Any root process could send us a message as well.
    if (sender.nl_pid != 0 || static_cast<std::size_t>(n) < kIdsAt + sizeof message.ids) continue;
    std::memcpy(&message.what, bytes + kWhatAt, sizeof message.what);
    std::memcpy(&message.time_ns, bytes + kHead + offsetof(proc_event, timestamp_ns), sizeof message.time_ns);
    std::memcpy(&message.ids, bytes + kIdsAt, sizeof message.ids);
    return Received::kMessage;
  }
}

Result<ProcConnector> ProcConnector::open(std::span<sock_filter> filter, int buffer_bytes) {
  Fd socket(::socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR));
  if (!socket) return fail_errno("the proc connector");
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes) != 0) {
    // Without CAP_NET_ADMIN: as much of it as the system's limit lets through. Less room only means earlier losses.
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
  }
  // The filter before bind(), with which messages begin to come.
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
    return fail_errno("SO_ATTACH_FILTER");
  }
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = CN_IDX_PROC;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return fail_errno("listening to process events");
  }
  ProcConnector connector(std::move(socket));
  for (int tries = 0; tries < kMostTries; ++tries) {
    LT_CHECK(send_operation(connector.fd(), PROC_CN_MCAST_LISTEN));
    // The kernel puts its answer into the socket before the request returns, so there is no need to wait for it. In a
    // pid or user namespace that it does not tell of processes it accepts the request, and does not answer. Where other
    // processes have filled the socket the answer may be lost.
    bool was_lost = false;
    Message message;
    for (auto next = connector.receive(message); next != Received::kNothing; next = connector.receive(message)) {
      if (next == Received::kMessage && message.what == kAcknowledgement) return connector;
      was_lost |= next == Received::kLost;
    }
    if (!was_lost) break;
  }
  return fail(ENOTSUP, "process events are not told here");
}

ProcConnector::~ProcConnector() {
  // The kernel counts its listeners, to save the messages where there are none. Older ones do not notice when a socket
  // is closed.
  if (socket_) std::ignore = send_operation(socket_.get(), PROC_CN_MCAST_IGNORE);
}

}  // namespace landtrace::programs
