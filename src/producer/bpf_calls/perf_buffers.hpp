// Perf events of type BPF_OUTPUT: what programs hand over by bpf_perf_event_output(), for a tool that reads it as the
// kernel's. The tool opens an event, maps it, and puts its descriptor into a PERF_EVENT_ARRAY:
//
//     perf_event_open()   an eventfd
//     mmap()              pages of its own, at which nothing comes yet
//     BPF_MAP_UPDATE_ELEM the map's slot takes their place: what producers write there is where the tool looks
//
// Producers wake nobody: while the tool waits it is looked whether there is anything, and the eventfd says so.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bpf_calls/objects.hpp"

namespace landtrace::bpf_calls {

// The process has a map that such an event could be put into.
bool wants_perf_buffers();
// The descriptor, or a negative errno.
int open_perf_buffer(bool close_on_exec);
bool is_perf_buffer(int fd);
// Where it is mapped, or a negative errno: EINVAL where these are no header page and a power of two of others.
long map_perf_buffer(int fd, std::size_t size);
// 0 or a negative errno: EBADF where the descriptor is none of these or is not mapped, E2BIG: there is no such slot.
long connect_perf_buffer(const ObjectRef& map, std::uint32_t slot, int fd);
// Of a forked child: what comes is for its parent.
void perf_buffers_after_fork();
// While the tool waits: runs what is due (timers.hpp), and makes those readable that have something, and the others
// not; ring buffers as well (map_memory.hpp). True where one has.
bool show_perf_buffers();

}  // namespace landtrace::bpf_calls
