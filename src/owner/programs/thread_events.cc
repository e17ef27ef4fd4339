#include "programs/thread_events.hpp"

#include <arpa/inet.h>

namespace landtrace::programs {

Result<ThreadEvents> ThreadEvents::subscribe(bool with_exec) {
  constexpr int kBufferBytes = 4 << 20;
  // Lets acknowledgements, forks and exits through, perhaps exec; not changes of ids and the like.
  const std::uint32_t exec = with_exec ? ProcConnector::kExec : ProcConnector::kFork;
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ProcConnector::kWhatAt),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(ProcConnector::kAcknowledgement), 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(ProcConnector::kFork), 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(exec), 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(ProcConnector::kExit), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, ~0u),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  LT_TRY(ProcConnector connector, ProcConnector::open(program, kBufferBytes));
  return ThreadEvents(std::move(connector));
}

std::vector<ThreadChange> ThreadEvents::drain() {
  std::vector<ThreadChange> changes;
  ProcConnector::Message message;
  for (;;) {
    const auto received = connector_.receive(message);
    if (received == ProcConnector::Received::kNothing) return changes;
    // After a loss the lists are wrong about some threads. Nothing tells which, so there is nothing to be done.
    if (received == ProcConnector::Received::kLost) continue;
    const auto& ids = message.ids;
    const bool is_process = ids[2] == ids[3];
    using Kind = ThreadChange::Kind;
    if (message.what == ProcConnector::kExit) changes.push_back({Kind::kEnds, ids[0]});
    if (message.what == ProcConnector::kFork) {
      changes.push_back({Kind::kBegins, ids[2], is_process ? ids[0] : ids[3], !is_process, message.time_ns});
    }
    // The thread that calls it is the first of its process from there on.
    if (message.what == ProcConnector::kExec) {
      changes.push_back({.kind = Kind::kCallsExec, .thread = ids[1], .time_ns = message.time_ns});
    }
  }
}

}  // namespace landtrace::programs
