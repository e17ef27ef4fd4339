#include "domain/process_events.hpp"

#include <arpa/inet.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstring>

namespace landtrace::domain {
namespace {

// A message is an nlmsghdr, a cn_msg and, of the kernel's, a proc_event.
constexpr std::size_t kHead = sizeof(nlmsghdr) + sizeof(cn_msg);
constexpr std::size_t kWhatAt = kHead + offsetof(proc_event, what);
constexpr std::size_t kForkAt = kHead + offsetof(proc_event, event_data);
constexpr std::uint32_t kAcknowledgement = 0;  // PROC_EVENT_NONE
constexpr std::uint32_t kFork = 1;             // PROC_EVENT_FORK

struct ForkEvent {
  std::uint32_t parent_thread, parent, child_thread, child;
};

// Only what is asked for takes room in the socket: acknowledgements, and forks that are not threads.
Result<void> filter(int socket) {
  constexpr auto kChildThreadAt = static_cast<std::uint32_t>(kForkAt + offsetof(ForkEvent, child_thread));
  constexpr auto kChildAt = static_cast<std::uint32_t>(kForkAt + offsetof(ForkEvent, child));
  constexpr std::uint32_t kAll = ~0u;
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(kWhatAt)),  // words come in network order
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(kAcknowledgement), 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(kFork), 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kChildThreadAt),
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kChildAt),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kAll),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  const sock_fprog all{sizeof program / sizeof program[0], program};
  if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &all, sizeof all) != 0) return fail_errno("SO_ATTACH_FILTER");
  return {};
}

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

struct Message {
  std::uint32_t what = 0;
  ForkEvent fork{};
};

enum class Received { kMessage, kNothing, kLost };

Received receive(int socket, Message& message) {
  alignas(8) char bytes[512];
  for (;;) {
    sockaddr_nl sender{};
    socklen_t size = sizeof sender;
    const ssize_t n =
        ::recvfrom(socket, bytes, sizeof bytes, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&sender), &size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == ENOBUFS ? Received::kLost : Received::kNothing;
    if (sender.nl_pid != 0 || static_cast<std::size_t>(n) < kForkAt + sizeof message.fork) continue;
    std::memcpy(&message.what, bytes + kWhatAt, sizeof message.what);
    std::memcpy(&message.fork, bytes + kForkAt, sizeof message.fork);
    return Received::kMessage;
  }
}

}  // namespace

Result<ProcessEvents> ProcessEvents::subscribe(int buffer_bytes) {
  Fd socket(::socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_CONNECTOR));
  if (!socket) return fail_errno("the proc connector");
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes) != 0) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);  // as far as a user may
  }
  LT_CHECK(filter(socket.get()));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = CN_IDX_PROC;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return fail_errno("listening to process events");
  }
  LT_CHECK(send_operation(socket.get(), PROC_CN_MCAST_LISTEN));
  // The kernel has answered before the request returned; to who is in a namespace that is not told, it has not.
  Message message;
  while (receive(socket.get(), message) == Received::kMessage) {
    if (message.what == kAcknowledgement) return ProcessEvents(std::move(socket));
  }
  return fail(ENOTSUP, "process events are not told here");
}

ProcessEvents::~ProcessEvents() {
  // Older kernels count listeners, and do not notice when one goes.
  if (socket_) std::ignore = send_operation(socket_.get(), PROC_CN_MCAST_IGNORE);
}

std::vector<ProcessEvents::Fork> ProcessEvents::drain(bool& lost) {
  std::vector<Fork> forks;
  Message message;
  for (;;) {
    switch (receive(socket_.get(), message)) {
      case Received::kNothing:
        return forks;
      case Received::kLost:
        lost = true;
        break;
      case Received::kMessage:
        if (message.what == kFork) forks.push_back({message.fork.parent, message.fork.child});
    }
  }
}

}  // namespace landtrace::domain
