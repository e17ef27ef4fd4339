#include "programs/process_events.hpp"

#include <arpa/inet.h>

namespace landtrace::programs {

Result<ProcessEvents> ProcessEvents::subscribe(int buffer_bytes) {
  constexpr std::uint32_t kAll = ~0u;
  // Lets acknowledgements through, and forks whose child is a process. Threads are not of interest here, and are so
  // many on some machines that they would fill the buffer. (Jumps count the statements that they pass over.)
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ProcConnector::kWhatAt),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(ProcConnector::kAcknowledgement), 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, htonl(ProcConnector::kFork), 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ProcConnector::kIdsAt + 8),  // the child's thread, which is ...
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ProcConnector::kIdsAt + 12),  // ... its process, if it is the first
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kAll),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  LT_TRY(ProcConnector connector, ProcConnector::open(program, buffer_bytes));
  return ProcessEvents(std::move(connector));
}

std::vector<ProcessEvents::Fork> ProcessEvents::drain(bool& lost) {
  std::vector<Fork> forks;
  ProcConnector::Message message;
  for (;;) {
    switch (connector_.receive(message)) {
      case ProcConnector::Received::kNothing:
        return forks;
      case ProcConnector::Received::kLost:
        lost = true;
        break;
      case ProcConnector::Received::kMessage:
        if (message.what == ProcConnector::kFork) forks.push_back({message.ids[1], message.ids[3]});
    }
  }
}

}  // namespace landtrace::programs
