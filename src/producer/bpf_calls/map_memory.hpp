// Maps as memory of the tool, as the kernel's are mapped: arrays (BPF_F_MMAPABLE), and ring buffers, for whose records
// it also waits. The tool sees where producers write.
//
//     ARRAY       values, from the map's beginning
//     RINGBUF     page 0: consumer position, the only page to be written to
//                 page 1: producer position, then the data, and the data once more: no record seems to wrap around
//
// A map that has been mapped stays until the process ends, whatever becomes of its descriptor.
#pragma once

#include <cstddef>
#include <optional>
#include <sys/types.h>

namespace landtrace::bpf_calls {

// Where it is mapped, or a negative errno: ENOTSUP or EINVAL for a map that has no such memory, EPERM for writing where
// tools may not, EACCES where nobody may, or for reading a map that is to be written to alone. nullopt: the descriptor
// is no map's.
std::optional<long> map_memory(void* address, std::size_t size, int protection, int flags, int fd, off_t offset);
// Whether waiting for it is waiting for records.
bool is_mapped_ring(int fd);
// Makes those ring buffers readable that have a record to be taken, and the others not: one that is held comes later.
// True where one has.
bool show_rings();
// One descriptor, an eventfd. Returns `has_any`.
bool show(int fd, bool has_any);

}  // namespace landtrace::bpf_calls
