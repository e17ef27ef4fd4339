// Maps of programs, as they lie in data segments: at the same offset in each user's, filled by that user's producers,
// read by that user's tools. Nobody trusts what stands there; the layout stands in the control segment, in the program
// that uses the map, and is trusted.
//
//   ARRAY, PERCPU_ARRAY             HASH, PERCPU_HASH, LRU_HASH (maps/hash.hpp)
//
//     +----------------------+        +--------+------------------+-----------+-----------+----
//     | row 0: value 0, 1, … |        | header | u64 heads[]      | element 0 | element 1 | …
//     +----------------------+        +--------+------------------+-----------+-----------+----
//     | row 1, …             |          an element   0        8        12       16     value_at
//     +----------------------+                       +--------+--------+--------+-------+-------+-------+---
//                                                    | link   | bucket | touched| key   | row 0 | row 1 | …
//   RINGBUF (maps/ring.hpp)                          +--------+--------+--------+-------+-------+-------+---
//
//     +----------+----------+------+   STACK_TRACE (maps/stacks.hpp)   PERF_EVENT_ARRAY (maps/perf.hpp)
//     | consumer | producer | data |
//     +----------+----------+------+     +-----------+-----------+----   +--------+------+--------+------+----
//       a page     a page                | bucket 0  | bucket 1  | …     | header | data | header | data | …
//                                        +-----------+-----------+----   +--------+------+--------+------+----
//
//   A row is a CPU's value; maps that are not of the PERCPU kinds have one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/shared_layout.hpp"

namespace landtrace::bpf {

// <linux/bpf.h>'s bpf_map_type.
inline constexpr std::uint32_t kHash = 1;
inline constexpr std::uint32_t kArray = 2;
inline constexpr std::uint32_t kPerfEventArray = 4;
inline constexpr std::uint32_t kPercpuHash = 5;
inline constexpr std::uint32_t kPercpuArray = 6;
inline constexpr std::uint32_t kStackTrace = 7;
inline constexpr std::uint32_t kLruHash = 9;
inline constexpr std::uint32_t kRingbuf = 27;

inline constexpr std::uint32_t kMaxKeySize = 512;
inline constexpr std::uint32_t kMaxValueSize = 1 << 20;
inline constexpr std::uint32_t kMapPage = 4096;
// Of the data that one slot of a PERF_EVENT_ARRAY can have.
inline constexpr std::uint32_t kPerfSlotBytes = 1 << 20;

//   0       8       16            24          32             40           48
//   +-------+-------+-------------+-----------+--------------+------------+
//   | place | bytes | elements_at | window_at | window_bytes | row_stride |
//   +-------+-------+-------------+-----------+--------------+------------+
//   | kind | flags | key_size | value_size | max_entries | stride | value_at | rows | buckets | can_write |    u32 each
//   +------+-------+----------+------------+-------------+--------+----------+------+---------+-----------+
struct MapLayout {
  // Offset in a data segment; the others are from there.
  std::uint64_t place;
  std::uint64_t bytes;
  std::uint64_t elements_at;
  // What programs may touch of it.
  std::uint64_t window_at;
  std::uint64_t window_bytes;
  // From a row to the next one: of an array, all values of a CPU; of a hash, one.
  std::uint64_t row_stride;
  std::uint32_t kind;
  // BPF_F_…, as the map was created.
  std::uint32_t flags;
  std::uint32_t key_size;
  std::uint32_t value_size;
  std::uint32_t max_entries;
  // From an element to the next one.
  std::uint32_t stride;
  std::uint32_t value_at;
  std::uint32_t rows;
  // A power of two.
  std::uint32_t buckets;
  // Whether programs can write to its values.
  std::uint32_t can_write;

  [[nodiscard]] bool is_hash() const { return kind == kHash || kind == kPercpuHash || kind == kLruHash; }
  [[nodiscard]] bool is_array() const { return kind == kArray || kind == kPercpuArray; }
  [[nodiscard]] bool has_values() const { return is_hash() || is_array(); }
  [[nodiscard]] bool is_per_cpu() const { return kind == kPercpuHash || kind == kPercpuArray; }
  // A row that there is. (A division takes longer than all else that leads to a value.)
  [[nodiscard]] std::uint32_t row_at(std::uint32_t row) const { return row < rows ? row : 0; }
};
LT_SHARED(MapLayout, 88, 8);
LT_SHARED_AT(MapLayout, place, 0);
LT_SHARED_AT(MapLayout, bytes, 8);
LT_SHARED_AT(MapLayout, elements_at, 16);
LT_SHARED_AT(MapLayout, window_at, 24);
LT_SHARED_AT(MapLayout, window_bytes, 32);
LT_SHARED_AT(MapLayout, row_stride, 40);
LT_SHARED_AT(MapLayout, kind, 48);
LT_SHARED_AT(MapLayout, flags, 52);
LT_SHARED_AT(MapLayout, key_size, 56);
LT_SHARED_AT(MapLayout, value_size, 60);
LT_SHARED_AT(MapLayout, max_entries, 64);
LT_SHARED_AT(MapLayout, stride, 68);
LT_SHARED_AT(MapLayout, value_at, 72);
LT_SHARED_AT(MapLayout, rows, 76);
LT_SHARED_AT(MapLayout, buckets, 80);
LT_SHARED_AT(MapLayout, can_write, 84);

constexpr std::uint64_t rounded(std::uint64_t size, std::uint64_t unit) { return (size + unit - 1) / unit * unit; }

}  // namespace landtrace::bpf
