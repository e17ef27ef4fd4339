// The elements of a map, as BPF_MAP_LOOKUP_ELEM and others have them: read and changed in shared memory, without the
// owner.
#pragma once

#include <linux/bpf.h>

#include "bpf_calls/objects.hpp"

namespace landtrace::bpf_calls {

// 0 or a negative errno: EPERM of a map that was made (BPF_F_RDONLY, BPF_F_WRONLY) or frozen so.
long lookup_element(const Object& map, const bpf_attr& call);
long update_element(const Object& map, const bpf_attr& call);
long delete_element(const Object& map, const bpf_attr& call);
long next_key(const Object& map, const bpf_attr& call);
// From here on elements are changed by programs alone.
long freeze(const Object& map, const bpf_attr& call);

// Bytes of a value as callers have it: of per-CPU maps all rows, each a multiple of 8.
std::uint64_t value_bytes(const bpf::MapLayout& map);

}  // namespace landtrace::bpf_calls
