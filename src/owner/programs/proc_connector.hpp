// The kernel's proc connector (a netlink socket): it tells of processes and threads that begin and end, and of programs
// that are started, as that happens.
//
// The kernel sends a message to every listener before fork() returns to the parent or the child runs. Messages wait in
// the socket's buffer; what does not fit into it is lost, and the listener is told that there was a loss.
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
  static constexpr std::uint32_t kExec = 2;             // PROC_EVENT_EXEC, before the new program's first instruction
  static constexpr std::uint32_t kExit = 0x80000000;    // PROC_EVENT_EXIT, of threads too

  struct Message {
    std::uint32_t what = 0;
    // When it happened, by CLOCK_MONOTONIC.
    std::uint64_t time_ns = 0;
    // Of kFork: the parent's thread and process, the child's thread and process. Where the child is a thread, the
    // parent is the parent of its process. Of kExec and kExit: the thread and its process.
    std::uint32_t ids[4] = {};
  };
  // Where a message has `what` and `ids`, for socket filters. Filters see each word in network byte order.
  static const std::uint32_t kWhatAt;
  static const std::uint32_t kIdsAt;

  // Messages that `filter` does not let through take no room in the buffer. It must let acknowledgements through:
  // open() waits for its own. The buffer has `buffer_bytes`, or what the system lets a user have. EPERM for users where
  // the kernel tells root alone, ECONNREFUSED in another network namespace than the first, ENOTSUP in another pid or
  // user namespace, EPROTONOSUPPORT where the kernel was built without it.
  static Result<ProcConnector> open(std::span<sock_filter> filter, int buffer_bytes);
  ProcConnector(ProcConnector&&) = default;
  ProcConnector& operator=(ProcConnector&&) = default;
  ~ProcConnector();

  enum class Received { kMessage, kNothing, kLost };
  // The next message, without waiting. kLost, once for each loss: some messages that came before those which are still
  // to be received are missing.
  Received receive(Message& message);
  // Readable when there is a message.
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  explicit ProcConnector(Fd socket) : socket_(std::move(socket)) {}

  Fd socket_;
};

}  // namespace landtrace::programs
