#include "preload/perf_events.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/system_call.hpp"
#include "bpf_calls/perf_buffers.hpp"
#include "bpf_calls/perf_links.hpp"
#include "client/process.hpp"
#include "client/signals_held_back.hpp"
#include "preload/real.hpp"
#include "preload/user_memory.hpp"

namespace landtrace::preload {
namespace {

using ipc::PerfLibrary;

const PerfLibrary* library = nullptr;

// The library's own calls of libc come through the shim, too; and a signal's handler may interrupt it.
thread_local bool is_inside __attribute__((tls_model("initial-exec"))) = false;

class Inside {
 public:
  Inside() { is_inside = true; }
  ~Inside() {
    is_inside = false;
    errno = saved_errno_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  int saved_errno_ = errno;
};

// Beside the shim.
const PerfLibrary* load() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<void*>(&perf_after_fork), &self) == 0 || self.dli_fname == nullptr) return nullptr;
  const std::string own(self.dli_fname);
  const std::string path = own.substr(0, own.rfind('/') + 1) + "liblandtrace-perf.so";
  void* const object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) return nullptr;
  auto* const entry = reinterpret_cast<const PerfLibrary* (*)()>(::dlsym(object, ipc::kPerfLibraryEntry));
  const PerfLibrary* const found = entry == nullptr ? nullptr : entry();
  return found != nullptr && found->version == ipc::kPerfLibraryVersion ? found : nullptr;
}

const PerfLibrary* find_library() {
  static const PerfLibrary* const found = load();
  return found;
}

template <typename T>
T finish(T result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

enum class Kind { kTracepoint, kDummy, kProgramOutput, kOther };

Kind kind_of(const void* attr) {
  // Type, size and config stand first in every version.
  struct {
    std::uint32_t type;
    std::uint32_t size;
    std::uint64_t config;
  } head{};
  const int saved_errno = errno;
  const bool is_there = copy_in(&head, attr, sizeof head);
  errno = saved_errno;
  if (!is_there) return Kind::kOther;
  if (head.type == PERF_TYPE_TRACEPOINT) return Kind::kTracepoint;
  if (head.type != PERF_TYPE_SOFTWARE) return Kind::kOther;
  // Of programs of the domain's, if the process has a map for that; else of the kernel's.
  if (head.config == PERF_COUNT_SW_BPF_OUTPUT && bpf_calls::wants_perf_buffers()) return Kind::kProgramOutput;
  return head.config == PERF_COUNT_SW_DUMMY ? Kind::kDummy : Kind::kOther;
}

// Of a tracepoint: its id. 0 where the program has changed its mind about the memory.
std::uint64_t config_of(const void* attr) {
  perf_event_attr copy{};
  const int saved_errno = errno;
  const bool is_there = copy_in(&copy, attr, PERF_ATTR_SIZE_VER0);
  errno = saved_errno;
  return is_there ? copy.config : 0;
}

thread_local bool holds_child_signal __attribute__((tls_model("initial-exec"))) = false;

sigset_t child_signal() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGCHLD);
  return set;
}

void hold_child_signal() {
  if (holds_child_signal) return;
  const sigset_t set = child_signal();
  sigset_t before;
  if (::pthread_sigmask(SIG_BLOCK, &set, &before) == 0) holds_child_signal = ::sigismember(&before, SIGCHLD) == 0;
}

bool is_a_refusal(int error) { return error == EACCES || error == EPERM || error == ENOSYS; }

int note(const ipc::PerfOpened& opened, Kind kind) {
  if (!FdTable::set(opened.fd, {opened.handle, kind == Kind::kDummy ? kPerfDummy : std::uint16_t{0}, kPerfEvent})) {
    real().close(opened.fd);
    library->drop(opened.handle);
    errno = ENOMEM;
    return -1;
  }
  // A thread that waits in poll() already is none of ours.
  __atomic_store_n(&perf_is_used, true, __ATOMIC_RELAXED);
  return opened.fd;
}

}  // namespace

long open_perf_event(void* attr, pid_t pid, int cpu, int group, unsigned long flags) {
  const auto kernel = [&] { return real().syscall(SYS_perf_event_open, attr, pid, cpu, group, flags); };
  if (!is_inside) {
    const auto opened = bpf_calls::open_program_event(attr, pid, cpu, (flags & PERF_FLAG_FD_CLOEXEC) != 0);
    if (opened) {
      __atomic_store_n(&perf_is_used, true, __ATOMIC_RELAXED);
      return finish(*opened);
    }
  }
  const Kind kind = is_inside ? Kind::kOther : kind_of(attr);
  if (kind == Kind::kOther) {
    // One of ours leads none of the kernel's.
    if (is_inside || !is_perf_event(FdTable::get(group)) || (flags & PERF_FLAG_FD_NO_GROUP) != 0) return kernel();
    return finish(long{-EINVAL});
  }
  if (kind == Kind::kProgramOutput) {
    __atomic_store_n(&perf_is_used, true, __ATOMIC_RELAXED);
    return finish(bpf_calls::open_perf_buffer((flags & PERF_FLAG_FD_CLOEXEC) != 0));
  }
  // A dummy event only shows where names go: a program that the kernel gives none records the domain all the same.
  long answer = -1;
  int refused_with = 0;
  if (kind == Kind::kDummy) {
    const int saved_errno = errno;
    answer = kernel();
    if (answer >= 0 || !is_a_refusal(errno)) return answer;
    refused_with = errno;
    errno = saved_errno;
  }
  client::Process& process = client::Process::get();
  const PerfLibrary* const found = process.attach() ? find_library() : nullptr;
  if (found == nullptr) {
    if (refused_with == 0) return kernel();
    errno = refused_with;
    return -1;
  }
  library = found;
  const FdEntry leader = FdTable::get(group);
  const ipc::PerfOpen wanted{
      attr, pid, cpu, is_perf_event(leader) ? leader.generation : 0, group, flags, process.socket_path()};
  ipc::PerfOpened opened{};
  int result;
  {
    const Inside inside;
    result = found->open(wanted, opened);
  }
  if (result == 0) {
    const int fd = note(opened, kind);
    if (fd >= 0 && kind == Kind::kTracepoint) bpf_calls::note_perf_event(fd, config_of(attr));
    return fd;
  }
  if (result < 0) return finish(result);
  if (refused_with == 0) return kernel();
  errno = refused_with;
  return -1;
}

bool is_program_request(unsigned long request) { return request == PERF_EVENT_IOC_SET_BPF; }

int set_perf_program(int fd, void* argument) {
  const int program = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
  const auto set = bpf_calls::set_program(fd, program);
  const long refusal = real().fcntl(program, F_GETFD, nullptr) < 0 ? -EBADF : -EINVAL;
  return static_cast<int>(finish(set ? *set : refusal));
}

bool is_output_request(unsigned long request) { return request == PERF_EVENT_IOC_SET_OUTPUT; }

int perf_ioctl(FdEntry entry, unsigned long request, void* argument) {
  if (entry.slot != kPerfDummy) let_child_signal_through();
  if (is_inside) return finish(-EBUSY);
  long result;
  {
    const Inside inside;
    if (is_output_request(request)) {
      const int fd = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
      const FdEntry to = FdTable::get(fd);
      result = library->set_output(entry.generation, fd, is_perf_event(to) ? to.generation : 0);
    } else {
      result = library->ioctl(entry.generation, request, argument);
    }
  }
  return static_cast<int>(finish(result));
}

int perf_output_of_kernel(int fd, FdEntry to) {
  if (is_inside) return finish(-EBUSY);
  long result;
  {
    const Inside inside;
    result = library->take_output(fd, to.generation);
  }
  return static_cast<int>(finish(result));
}

ssize_t read_perf_event(FdEntry entry, void* buffer, std::size_t size) {
  let_child_signal_through();
  if (is_inside) return finish(-EBUSY);
  long result;
  {
    const Inside inside;
    result = library->read(entry.generation, buffer, size);
  }
  return finish(result);
}

void* map_perf_event(FdEntry entry, void* address, std::size_t size, int protection, int flags, off_t offset) {
  int memory;
  {
    const Inside inside;
    memory = library->memory(entry.generation, size, protection, flags, offset);
  }
  const long mapped = memory < 0 ? memory : system_call(SYS_mmap, address, size, protection, flags, memory, 0L);
  constexpr long kErrors = 4096;
  if (mapped >= 0 || mapped < -kErrors) return reinterpret_cast<void*>(mapped);
  errno = static_cast<int>(-mapped);
  return MAP_FAILED;
}

void perf_event_mapped(int fd, void* address, std::size_t size) {
  if (is_inside || library == nullptr) return;
  const Inside inside;
  library->mapped(fd, address, size);
}

void perf_descriptor_gone(FdEntry entry) {
  if (!is_perf_event(entry) || is_inside || library == nullptr) return;
  for (unsigned fd = 0; fd < FdTable::end(); ++fd) {
    const FdEntry other = FdTable::get(static_cast<int>(fd));
    if (is_perf_event(other) && other.generation == entry.generation) return;
  }
  if (entry.slot != kPerfDummy) let_child_signal_through();
  const Inside inside;
  library->drop(entry.generation);
}

bool pull_perf_events() {
  if (is_inside) return false;
  const bool has_samples = bpf_calls::show_perf_buffers();
  if (library == nullptr) return has_samples;
  // What a handler tells of, the end of a program, say, may have come behind what this look has read already: it comes
  // after that, and looks itself.
  const client::SignalsHeldBack signals;
  const Inside inside;
  return library->pull() || has_samples;
}

void perf_after_write() {
  if (library == nullptr || !*library->is_sampling) return;
  std::ignore = pull_perf_events();
  if (*library->awaits_exec) hold_child_signal();
}

void let_child_signal_through() {
  if (!holds_child_signal) return;
  holds_child_signal = false;
  const sigset_t set = child_signal();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

sigset_t without_held_signal(sigset_t mask) {
  if (holds_child_signal) ::sigdelset(&mask, SIGCHLD);
  holds_child_signal = false;
  return mask;
}

void perf_after_own_event() {
  if (library != nullptr && *library->watches_memory) std::ignore = pull_perf_events();
}

int mark_hung_up(pollfd* fds, nfds_t count) {
  if (is_inside || library == nullptr) return 0;
  const Inside inside;
  int hung_up = 0;
  for (nfds_t i = 0; i < count; ++i) {
    const FdEntry entry = FdTable::get(fds[i].fd);
    if (!is_perf_event(entry) || !library->is_hung_up(entry.generation)) continue;
    if (fds[i].revents == 0) ++hung_up;
    fds[i].revents = static_cast<short>(fds[i].revents | POLLHUP);
  }
  return hung_up;
}

void perf_events_polled(const pollfd* fds, nfds_t count) {
  if (is_inside || library == nullptr) return;
  const Inside inside;
  for (nfds_t i = 0; i < count; ++i) {
    const FdEntry entry = FdTable::get(fds[i].fd);
    if (is_perf_event(entry) && (fds[i].revents & POLLIN) != 0) library->polled(entry.generation);
  }
}

void perf_after_fork() {
  if (library == nullptr) return;
  const Inside inside;
  library->child();
}

}  // namespace landtrace::preload
