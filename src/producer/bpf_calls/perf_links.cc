#include "bpf_calls/perf_links.hpp"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <utility>

#include "base/system_call.hpp"
#include "bpf_calls/ask.hpp"
#include "bpf_calls/objects.hpp"
#include "bpf_calls/timers.hpp"
#include "bpf_calls/user_bytes.hpp"
#include "client/process.hpp"
#include "ipc/bpf_requests.hpp"

namespace landtrace::bpf_calls {

struct PerfEvent {
  enum class What : std::uint8_t { kEvent, kProbe, kTimer };
  What what{};
  std::uint64_t event_id = 0;
  // kProbe: as uprobe_events has it.
  std::string place{};
  bool is_return = false;
  std::uint32_t only_pid = 0;
  // kTimer.
  std::uint64_t period_ns = 0;
  bool has_program = false;
  ObjectRef link{};

  PerfEvent() = default;
  ~PerfEvent() { remove_timer(this); }
  PerfEvent(const PerfEvent&) = delete;
  PerfEvent& operator=(const PerfEvent&) = delete;
};

namespace {

using What = PerfEvent::What;

// The number that this kernel has for uprobes among the types of perf events; 0: none.
std::uint32_t type_of_probes() {
  static const std::uint32_t type = [] {
    const long fd =
        system_call(SYS_openat, AT_FDCWD, "/sys/bus/event_source/devices/uprobe/type", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0u;
    char text[16] = "";
    system_call(SYS_read, fd, text, sizeof text - 1);
    system_call(SYS_close, fd);
    return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
  }();
  return type;
}

// False: it cannot be read, or is too long.
bool read_text(std::uint64_t from, std::string& text) {
  constexpr std::size_t kLongest = 4096;
  for (char letter = 0; text.size() < kLongest; text += letter) {
    if (!copy_from_user(&letter, from + text.size(), 1)) return false;
    if (letter == '\0') return true;
  }
  return false;
}

long describe_probe(const perf_event_attr& attr, pid_t pid, PerfEvent& event) {
  constexpr std::uint64_t kReturn = 1;
  constexpr unsigned kCounterShift = 32;
  std::string path;
  if (!read_text(attr.uprobe_path, path)) return -EFAULT;
  if (path.empty()) return -EINVAL;
  char offset[64];
  const std::uint64_t counter = attr.config >> kCounterShift;
  std::snprintf(offset, sizeof offset, counter != 0 ? ":0x%llx(0x%llx)" : ":0x%llx",
                static_cast<unsigned long long>(attr.probe_offset), static_cast<unsigned long long>(counter));
  event.what = What::kProbe;
  event.place = path + offset;
  event.is_return = (attr.config & kReturn) != 0;
  // 0 is who asks; below it, anybody.
  if (pid >= 0) event.only_pid = static_cast<std::uint32_t>(pid != 0 ? pid : system_call(SYS_getpid));
  return 0;
}

long describe_timer(const perf_event_attr& attr, int cpu, PerfEvent& event) {
  constexpr std::uint64_t kSecond_ns = 1'000'000'000;
  // On all CPUs it is meant to see what runs there.
  if (cpu != 0) return -EOPNOTSUPP;
  if (attr.sample_period == 0 || attr.sample_period > kSecond_ns * 1'000'000) return -EINVAL;
  event.what = What::kTimer;
  event.period_ns = attr.freq != 0 ? std::max<std::uint64_t>(1, kSecond_ns / attr.sample_freq) : attr.sample_period;
  return 0;
}

// The number of a link, or a negative errno.
long make_link(const PerfEvent& event, const Object& program) {
  client::Process& process = client::Process::get();
  if (event.what == What::kEvent) {
    const auto made = process.ask({.operation = ipc::Operation::kBpfAttach, .a = program.number, .b = event.event_id});
    return made ? static_cast<long>(made->reply.a) : -made.error().code;
  }
  const auto made = ask_patiently({.operation = ipc::Operation::kBpfAttach,
                                   .a = program.number,
                                   .b = event.is_return ? 1u : 0u,
                                   .c = ipc::kBpfAtPlace,
                                   .d = event.only_pid},
                                  event.place);
  return made ? static_cast<long>(made->reply.a) : -made.error().code;
}

}  // namespace

void note_perf_event(int fd, std::uint64_t event_id) {
  const auto event = std::make_shared<PerfEvent>();
  event->event_id = event_id;
  describe(fd, {.event = event});
}

std::optional<long> open_program_event(const void* attr, pid_t pid, int cpu, bool close_on_exec) {
  if (!has_descriptors()) return std::nullopt;
  // Programs name less of it than there is, or no size at all.
  perf_event_attr copy{};
  if (!copy_from_user(&copy, reinterpret_cast<std::uint64_t>(attr), PERF_ATTR_SIZE_VER1)) return std::nullopt;
  const bool is_clock = copy.type == PERF_TYPE_SOFTWARE &&
                        (copy.config == PERF_COUNT_SW_CPU_CLOCK || copy.config == PERF_COUNT_SW_TASK_CLOCK);
  const auto event = std::make_shared<PerfEvent>();
  long failed = 0;
  if (is_clock && Objects::get().has_program_of(BPF_PROG_TYPE_PERF_EVENT)) {
    failed = describe_timer(copy, cpu, *event);
  } else if (copy.type != 0 && copy.type == type_of_probes() && Objects::get().has_program_of(BPF_PROG_TYPE_KPROBE)) {
    failed = describe_probe(copy, pid, *event);
  } else {
    return std::nullopt;
  }
  if (failed < 0) return failed;
  const long fd = system_call(SYS_eventfd2, 0, EFD_NONBLOCK | (close_on_exec ? EFD_CLOEXEC : 0));
  if (fd < 0) return fd;
  describe(static_cast<int>(fd), {.event = event});
  return fd;
}

std::optional<long> set_program(int perf_fd, int program_fd) {
  const ObjectRef program = Objects::get().find(program_fd, Kind::kProgram);
  const PerfEventRef event = described(perf_fd).event;
  if (program == nullptr || event == nullptr) return std::nullopt;
  if (event->what == What::kTimer && program->type != BPF_PROG_TYPE_PERF_EVENT) return -EINVAL;
  {
    const Held held;
    if (std::exchange(event->has_program, true)) return -EEXIST;
  }
  if (event->what == What::kTimer) {
    add_timer(event.get(), program, event->period_ns);
    return 0;
  }
  const long made = make_link(*event, *program);
  if (made < 0) {
    const Held held;
    event->has_program = false;
    return made;
  }
  event->link = hold({.kind = Kind::kLink, .number = static_cast<std::uint32_t>(made)});
  return 0;
}

std::optional<long> program_event_request(int fd, unsigned long request, const void* argument) {
  const PerfEventRef event = described(fd).event;
  if (event == nullptr || event->what == What::kEvent) return std::nullopt;
  switch (request) {
    case PERF_EVENT_IOC_SET_BPF:
      return set_program(fd, static_cast<int>(reinterpret_cast<std::intptr_t>(argument))).value_or(-EBADF);
    case PERF_EVENT_IOC_ENABLE:
    case PERF_EVENT_IOC_DISABLE:
      set_timer(event.get(), request == PERF_EVENT_IOC_ENABLE);
      return 0;
    case PERF_EVENT_IOC_RESET:
      return 0;
    default:
      return -ENOTTY;
  }
}

}  // namespace landtrace::bpf_calls
