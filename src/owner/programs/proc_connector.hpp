// The kernel's proc connector (netlink): what it tells of forks, threads and exits, as it comes.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>

#include "base/fd.hpp"

namespace landtrace::programs {

class ProcConnector {
 public:
  static constexpr std::uint32_t kAcknowledgement = 0;  // PROC_EVENT_NONE
  static constexpr std::uint32_t kFork = 1;             // PROC_EVENT_FORK, of threads too
  static constexpr std::uint32_t kExit = 0x80000000;    // PROC_EVENT_EXIT, of threads too

  struct Message {
    std::uint32_t what = 0;
    // Of kFork: the parent's thread and process, the child's thread and process. The parent of a thread is its process's. Of
    // kExit: the thread and its process.
    std::uint32_t ids[4] = {};
  };
  // Where in a message is what, for filters; words come to them in network order.
  static const std::uint32_t kWhatAt;
  static const std::uint32_t kIdsAt;

  // Only what `filter` lets through takes room in the socket; acknowledgements must be. EPERM for users where the kernel keeps it
  // for root, ECONNREFUSED in another network namespace, ENOTSUP in another pid or user namespace, EPROTONOSUPPORT where the kernel has no such thing.
  static Result<ProcConnector> open(std::span<sock_filter> filter, int buffer_bytes);
  ProcConnector(ProcConnector&&) = default;
  ProcConnector& operator=(ProcConnector&&) = default;
  ~ProcConnector();

  enum class Received { kMessage, kNothing, kLost };
  // Does not wait.
  Received receive(Message& message);
  // Readable when there is a message.
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  explicit ProcConnector(Fd socket) : socket_(std::move(socket)) {}

  Fd socket_;
};

}  // namespace landtrace::programs
