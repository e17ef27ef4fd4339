#include "bpf_calls/perf_links.hpp"

#include <pthread.h>

#include <cerrno>
#include <map>
#include <new>

#include "bpf_calls/objects.hpp"
#include "client/process.hpp"

namespace landtrace::bpf_calls {
namespace {

struct PerfEvent {
  std::uint64_t event_id;
  std::uint32_t link;  // 0: none
};

struct PerfEvents {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::map<int, PerfEvent> by_fd;
};

// Never destroyed: threads may go on after main().
PerfEvents& events() {
  alignas(PerfEvents) static std::byte memory[sizeof(PerfEvents)];
  static PerfEvents* const made = new (memory) PerfEvents;
  return *made;
}

class Locked {
 public:
  Locked() { ::pthread_mutex_lock(&events().mutex); }
  ~Locked() { ::pthread_mutex_unlock(&events().mutex); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

void drop_link(std::uint32_t link) {
  if (link == 0) return;
  const int saved_errno = errno;
  static_cast<void>(client::Process::get().ask({.operation = ipc::Operation::kBpfDrop, .a = link}));
  errno = saved_errno;
}

}  // namespace

void note_perf_event(int fd, std::uint64_t event_id) {
  const Locked lock;
  events().by_fd[fd] = {event_id, 0};
}

void forget_perf_event(int fd) {
  std::uint32_t link = 0;
  {
    const Locked lock;
    const auto found = events().by_fd.find(fd);
    if (found == events().by_fd.end()) return;
    link = found->second.link;
    events().by_fd.erase(found);
  }
  drop_link(link);
}

std::optional<long> set_program(int perf_fd, int program_fd) {
  const ObjectRef program = Objects::get().find(program_fd, Kind::kProgram);
  if (program == nullptr) return std::nullopt;
  std::uint64_t event_id = 0;
  {
    const Locked lock;
    const auto found = events().by_fd.find(perf_fd);
    if (found == events().by_fd.end()) return std::nullopt;
    if (found->second.link != 0) return -EEXIST;
    event_id = found->second.event_id;
  }
  const auto made =
      client::Process::get().ask({.operation = ipc::Operation::kBpfAttach, .a = program->number, .b = event_id});
  if (!made) return -made.error().code;
  const auto link = static_cast<std::uint32_t>(made->reply.a);
  {
    const Locked lock;
    const auto found = events().by_fd.find(perf_fd);
    if (found != events().by_fd.end() && found->second.link == 0) {
      found->second.link = link;
      return 0;
    }
  }
  drop_link(link);  // it was closed, or has another one, meanwhile
  return -EEXIST;
}

}  // namespace landtrace::bpf_calls
