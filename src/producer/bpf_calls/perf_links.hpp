// Programs that are attached by a perf event: PERF_EVENT_IOC_SET_BPF, as libraries do it. The program runs from then on
// until the last descriptor of the perf event is closed.
//
//     the domain's event      TRACEPOINT, an id         opened by others, who tell of it here
//     a probe of its own      the type of uprobes       PATH and offset; a program of type KPROBE
//     a timer                 CPU_CLOCK on CPU 0        a program of type PERF_EVENT, run by the tool (timers.hpp)
//
// The last two are opened here (an eventfd) where the process has such a program; else they are the kernel's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace landtrace::bpf_calls {

// The descriptor is a perf event of the domain's event with this id.
void note_perf_event(int fd, std::uint64_t event_id);
// perf_event_open(): the descriptor, or a negative errno. nullopt: not for us.
std::optional<long> open_program_event(const void* attr, pid_t pid, int cpu, bool close_on_exec);

// 0 or a negative errno: EEXIST where the perf event has a program already. nullopt: not for us.
std::optional<long> set_program(int perf_fd, int program_fd);
// ioctl() of what open_program_event() has opened; nullopt: it has not.
std::optional<long> program_event_request(int fd, unsigned long request, const void* argument);

}  // namespace landtrace::bpf_calls
