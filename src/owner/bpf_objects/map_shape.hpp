// How a map that somebody wants lies in data segments.
#pragma once

#include "base/result.hpp"
#include "bpf/map_layout.hpp"

namespace landtrace::bpf_objects {

struct MapWish {
  std::uint32_t kind;
  std::uint32_t key_size;
  std::uint32_t value_size;
  std::uint32_t max_entries;
  // BPF_F_….
  std::uint32_t flags;
};

// Everything but `place`. EINVAL for sizes and flags that the kind does not have, E2BIG for more than there can be.
Result<bpf::MapLayout> shape_map(const MapWish& wish, std::uint32_t cpus);

// Of all maps of a guest: some, and a PERF_EVENT_ARRAY, which has a slot for each CPU. Sparse, as all of it.
std::uint64_t most_bytes_of_guest(std::uint32_t cpus);

}  // namespace landtrace::bpf_objects
