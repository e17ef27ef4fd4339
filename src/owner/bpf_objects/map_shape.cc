#include "bpf_objects/map_shape.hpp"

#include <linux/bpf.h>

#include <algorithm>
#include <bit>

#include "bpf/maps/hash.hpp"
#include "bpf/surroundings.hpp"

namespace landtrace::bpf_objects {
namespace {

using bpf::MapLayout;
using bpf::rounded;

// Of one map. Sparse: what is not used is not there.
constexpr std::uint64_t kMaxMapBytes = 512ull << 20;
constexpr std::uint32_t kMaxElements = 1u << 26;

// Two keys' values share no cache line.
constexpr std::uint32_t kElementUnit = 64;

Result<MapLayout> shape_hash(const MapWish& wish, MapLayout map) {
  if (wish.key_size == 0 || wish.value_size == 0) return fail(EINVAL, "a hash has keys and values of at least 1 byte");
  if (wish.key_size > bpf::kMaxKeySize || wish.value_size > bpf::kMaxValueSize)
    return fail(E2BIG, "keys have at most 512 bytes, values a MiB");
  map.buckets = std::min(std::bit_ceil(wish.max_entries), bpf::kMaxBuckets);
  map.value_at = static_cast<std::uint32_t>(sizeof(bpf::HashElement) + rounded(wish.key_size, 8));
  // Rows of several CPUs share no cache line, either.
  map.row_stride = rounded(wish.value_size, map.rows > 1 ? kElementUnit : 8);
  if (map.rows > 1) map.value_at = static_cast<std::uint32_t>(rounded(map.value_at, kElementUnit));
  const std::uint64_t stride = rounded(map.value_at + map.rows * map.row_stride, kElementUnit);
  map.stride = static_cast<std::uint32_t>(stride);
  map.elements_at = rounded(sizeof(bpf::HashHeader) + std::uint64_t{map.buckets} * 8, kElementUnit);
  map.bytes = map.elements_at + stride * wish.max_entries;
  map.window_at = map.elements_at;
  map.window_bytes = map.bytes - map.elements_at;
  return map;
}

Result<MapLayout> shape_array(const MapWish& wish, MapLayout map) {
  if (wish.key_size != 4 || wish.value_size == 0)
    return fail(EINVAL, "an array's keys have 4 bytes, its values at least 1");
  if (wish.value_size > (64u << 20)) return fail(E2BIG, "values have at most 64 MiB");
  map.stride = static_cast<std::uint32_t>(rounded(wish.value_size, 8));
  map.row_stride = rounded(std::uint64_t{map.stride} * wish.max_entries, map.rows > 1 ? kElementUnit : 8);
  map.bytes = map.row_stride * map.rows;
  map.window_bytes = map.bytes;
  return map;
}

Result<MapLayout> shape_ring(const MapWish& wish, MapLayout map) {
  if (wish.key_size != 0 || wish.value_size != 0) return fail(EINVAL, "a ring buffer has no keys and no values");
  if (wish.max_entries < bpf::kMapPage || !std::has_single_bit(wish.max_entries)) {
    return fail(EINVAL, "a ring buffer's max_entries are its bytes: whole pages, a power of two");
  }
  map.bytes = 2 * bpf::kMapPage + std::uint64_t{wish.max_entries};
  return map;
}

Result<MapLayout> shape_stacks(const MapWish& wish, MapLayout map) {
  if (wish.key_size != 4 || wish.value_size < 8 || wish.value_size % 8 != 0 ||
      wish.value_size / 8 > bpf::kMaxStackFrames) {
    return fail(EINVAL, "a map of stacks has keys of 4 bytes, and values of 8 for each of at most 127 addresses");
  }
  map.buckets = std::bit_ceil(wish.max_entries);
  map.stride = static_cast<std::uint32_t>(rounded(16 + wish.value_size, 8));
  map.bytes = std::uint64_t{map.stride} * map.buckets;
  return map;
}

Result<MapLayout> shape_perf(const MapWish& wish, MapLayout map, std::uint32_t cpus) {
  if (wish.key_size != 4 || wish.value_size != 4)
    return fail(EINVAL, "a PERF_EVENT_ARRAY has keys and values of 4 bytes");
  map.max_entries = std::min(wish.max_entries, cpus);
  map.stride = bpf::kMapPage + bpf::kPerfSlotBytes;
  map.bytes = std::uint64_t{map.stride} * map.max_entries;
  return map;
}

Result<MapLayout> shape_of_kind(const MapWish& wish, MapLayout map, std::uint32_t cpus) {
  switch (wish.kind) {
    case bpf::kHash:
    case bpf::kPercpuHash:
    case bpf::kLruHash:
      return shape_hash(wish, map);
    case bpf::kArray:
    case bpf::kPercpuArray:
      return shape_array(wish, map);
    case bpf::kRingbuf:
      return shape_ring(wish, map);
    case bpf::kStackTrace:
      return shape_stacks(wish, map);
    case bpf::kPerfEventArray:
      return shape_perf(wish, map, cpus);
    default:
      return fail(EINVAL, "maps of type " + std::to_string(wish.kind) + " are not known here");
  }
}

}  // namespace

std::uint64_t most_bytes_of_guest(std::uint32_t cpus) {
  return (32ull << 20) + std::uint64_t{cpus} * (bpf::kMapPage + bpf::kPerfSlotBytes);
}

Result<MapLayout> shape_map(const MapWish& wish, std::uint32_t cpus) {
  constexpr std::uint32_t kFlags = BPF_F_NO_PREALLOC | BPF_F_RDONLY | BPF_F_WRONLY | BPF_F_RDONLY_PROG | BPF_F_MMAPABLE;
  if ((wish.flags & ~kFlags) != 0) return fail(EINVAL, "flags that maps do not have here");
  if ((wish.flags & BPF_F_RDONLY) != 0 && (wish.flags & BPF_F_WRONLY) != 0)
    return fail(EINVAL, "a map is not read only and write only at once");
  if (wish.max_entries == 0) return fail(EINVAL, "a map has at least one entry");
  if (wish.kind != bpf::kRingbuf && wish.max_entries > kMaxElements)
    return fail(E2BIG, "more entries than a map can have");
  MapLayout map{};
  map.kind = wish.kind;
  map.flags = wish.flags;
  map.key_size = wish.key_size;
  map.value_size = wish.value_size;
  map.max_entries = wish.max_entries;
  map.can_write = (wish.flags & BPF_F_RDONLY_PROG) == 0 ? 1 : 0;
  map.rows = map.is_per_cpu() ? cpus : 1;
  LT_TRY(MapLayout shaped, shape_of_kind(wish, map, cpus));
  if (shaped.bytes > kMaxMapBytes) return fail(ENOMEM, "a map has at most 512 MiB");
  // Pages of its own, to be mapped by tools.
  shaped.bytes = rounded(shaped.bytes, bpf::kMapPage);
  return shaped;
}

}  // namespace landtrace::bpf_objects
