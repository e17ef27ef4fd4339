// STACK_TRACE: stacks by a number that says which they are.
//
//   a bucket     0      8       16
//                +------+-------+-----------+-----------+----
//                | hash | count | caller[0] | caller[1] | …        the nearest first; hash 0: empty
//                +------+-------+-----------+-----------+----
//
// Two threads that put different stacks into one bucket at once leave one whose hash is neither's: the sum over what
// stands there is looked at by whoever reads.
#pragma once

#include <linux/bpf.h>

#include <cerrno>

#include "bpf/map_layout.hpp"
#include "bpf/words.hpp"

namespace landtrace::bpf {

class Stacks {
 public:
  // `data` is the data segment.
  Stacks(std::byte* data, const MapLayout& layout) : base_(data + layout.place + layout.elements_at), layout_(layout) {}

  [[nodiscard]] std::uint32_t max_frames() const { return layout_.value_size / 8; }

  // BPF_F_REUSE_STACKID: another stack in the bucket makes room. The bucket's number, or -EEXIST.
  [[nodiscard]] std::int64_t store(const std::uint64_t* frames, std::uint32_t count, std::uint64_t flags) const {
    const std::uint64_t hash = hash_of(frames, count);
    const auto index = static_cast<std::uint32_t>(hash % layout_.buckets);
    std::uint64_t* const at = bucket(index);
    const std::uint64_t there = load_relaxed(at);
    if (there == hash) return index;
    if (there != 0 && (flags & BPF_F_REUSE_STACKID) == 0) return -EEXIST;
    for (std::uint32_t i = 0; i < max_frames(); ++i) {
      __atomic_store_n(at + 2 + i, i < count ? frames[i] : 0, __ATOMIC_RELAXED);
    }
    __atomic_store_n(at + 1, count, __ATOMIC_RELAXED);
    // The frames, then what says that they are there: pairs with the acquire load in find().
    __atomic_store_n(at, hash, __ATOMIC_RELEASE);
    return index;
  }

  // Copies value_size bytes of callers, zeros behind them. 0 or -ENOENT.
  int find(std::uint32_t index, std::uint64_t* frames) const {
    if (index >= layout_.buckets) return -ENOENT;
    const std::uint64_t* const at = bucket(index);
    const std::uint64_t hash = __atomic_load_n(at, __ATOMIC_ACQUIRE);  // pairs with the release store in store()
    if (hash == 0) return -ENOENT;
    std::uint64_t count = load_relaxed(at + 1);
    if (count > max_frames()) count = max_frames();
    for (std::uint32_t i = 0; i < max_frames(); ++i) frames[i] = i < count ? load_relaxed(at + 2 + i) : 0;
    return hash_of(frames, static_cast<std::uint32_t>(count)) == hash ? 0 : -ENOENT;
  }

  int remove(std::uint32_t index) const {
    if (index >= layout_.buckets || load_relaxed(bucket(index)) == 0) return -ENOENT;
    __atomic_store_n(bucket(index), 0, __ATOMIC_RELAXED);
    return 0;
  }

 private:
  [[nodiscard]] std::uint64_t* bucket(std::uint32_t index) const {
    return reinterpret_cast<std::uint64_t*>(base_ + std::uint64_t{index} * layout_.stride);
  }
  static std::uint64_t hash_of(const std::uint64_t* frames, std::uint32_t count) {
    std::uint64_t hash = count;
    for (std::uint32_t i = 0; i < count; ++i) {
      hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 32;
    }
    return hash | 1;
  }

  std::byte* base_;
  const MapLayout& layout_;
};

}  // namespace landtrace::bpf
