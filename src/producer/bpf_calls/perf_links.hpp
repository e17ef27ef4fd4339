// Programs that are attached by a perf event: PERF_EVENT_IOC_SET_BPF, as libraries do it. The program runs from then on
// until the perf event's descriptor is closed.
#pragma once

#include <cstdint>
#include <optional>

namespace landtrace::bpf_calls {

// The descriptor is a perf event of the domain's event with this id.
void note_perf_event(int fd, std::uint64_t event_id);
// The descriptor is about to be closed.
void forget_perf_event(int fd);

// 0 or a negative errno: EEXIST where the perf event has a program already. nullopt: not for us.
std::optional<long> set_program(int perf_fd, int program_fd);

}  // namespace landtrace::bpf_calls
