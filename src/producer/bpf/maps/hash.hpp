// HASH, PERCPU_HASH and LRU_HASH: found, filled and emptied by any number of threads of any number of processes,
// without a lock.
//
//     heads[hash % buckets] ---> element ---> element ---> …     each element in one chain at most
//     header.spare -----------> element ---> …                   those that were given back
//
//   a head, a link, `spare`     63          32  31       30            0
//                               +-------------+---------+-------------+     the tag grows with each change of the word,
//                               | tag         | deleted | element + 1 |     so that a compare-and-swap notices that an
//                               +-------------+---------+-------------+     element went and came back
//
// An insertion looks through the chain and then swaps the head, which is another one if anybody inserted in between: so
// no key is there twice. A removal marks the element's own link as deleted, which settles who removes it; then the word
// that leads to it is swapped, by whoever comes by first, and who did that gives the element back. A thread that stands
// on an element looks again at the word that led there: if that has not changed, the element was in the chain all the
// time, and its link is this chain's.
//
// Killed at any instruction: before the swap of a head an element is lost; marked elements are unlinked by the next who
// comes; unlinked and not given back, an element is lost. Nobody ever waits.
//
// Values are read and written where they lie, as programs do. So a value that a program still has a pointer to may be
// another key's by then, as in the kernel with maps that are not made anew for each element.
//
// The memory is hostile: each number of an element is checked, and no walk is longer than kMaxSteps. A program pays for
// its walks: where it cannot, they end as broken ones do, and so does its run.
#pragma once

#include "bpf/machine.hpp"
#include "bpf/map_layout.hpp"

namespace landtrace::bpf {

struct alignas(64) HashHeader {
  std::uint64_t spare;
  // Elements handed out for the first time; may be more than there are.
  std::uint64_t taken;
  // LRU_HASH: where to look for the next element that makes room.
  std::uint64_t hand;
  // Insertions that found no room.
  std::uint64_t dropped;
};
LT_SHARED(HashHeader, 64, 64);

struct HashElement {
  std::uint64_t link;
  std::uint32_t bucket;
  // LRU_HASH: since the hand came by.
  std::uint32_t touched;

  [[nodiscard]] std::byte* key() { return reinterpret_cast<std::byte*>(this + 1); }
};
LT_SHARED(HashElement, 16, 8);

// Of an element that is in no chain.
inline constexpr std::uint32_t kNoBucket = ~0u;
// How a key is found: the owner gives maps no more than that many buckets.
inline constexpr std::uint32_t kMaxBuckets = 1u << 24;

inline constexpr std::uint64_t kHashFactor = 0x9e3779b97f4a7c15;
std::uint64_t hash_bytes(const void* key, std::uint32_t size);

// Of a word that leads on.
inline constexpr std::uint64_t kDeletedElement = 1ull << 31;
inline constexpr std::uint64_t kElementMask = kDeletedElement - 1;

class Hash {
 public:
  // `data` is the data segment. `payer` is who looks elements up, where that is a program's run.
  Hash(std::byte* data, const MapLayout& layout, Machine* payer = nullptr)
      : base_(data + layout.place), layout_(layout), payer_(payer) {}

  // The row's value; nullptr: not there.
  [[nodiscard]] std::byte* find(const void* key, std::uint32_t row) const;
  // BPF_ANY, BPF_NOEXIST or BPF_EXIST. The value is the row's alone; other rows of a new element are zero. 0, or
  // -EEXIST, -ENOENT, -E2BIG, -EINVAL.
  int update(const void* key, const void* value, std::uint32_t row, std::uint64_t flags) const;
  // All rows, each of rounded(value_size, 8) bytes: what a tool hands over.
  int update_rows(const void* key, const std::byte* values, std::uint64_t flags) const;
  // 0 or -ENOENT.
  int remove(const void* key) const;
  // The key behind this one, in no particular order; nullptr, or a key that is not there: the first. 0 or -ENOENT.
  int next(const void* key, void* next_key) const;

  [[nodiscard]] HashHeader& header() const { return *reinterpret_cast<HashHeader*>(base_); }

 private:
  static constexpr std::uint64_t kDeleted = kDeletedElement;
  static constexpr std::uint64_t kIndexMask = kElementMask;
  static constexpr std::uint32_t kMaxSteps = 4096;
  static constexpr std::uint32_t kMaxRestarts = 64;
  static constexpr std::uint32_t kNone = ~0u;

  struct Spot {
    // The word that leads there, and what it was.
    std::uint64_t* from;
    std::uint64_t from_word;
    // What the head was when the walk began.
    std::uint64_t head_word;
    // Elements that were looked at.
    std::uint32_t steps;
    // kNone: the chain has ended.
    std::uint32_t index;
    std::uint64_t link;
  };
  enum class Walk { kFound, kEnd, kBroken };

  // `from` with another element, and another tag.
  static std::uint64_t follower(std::uint64_t from, std::uint64_t index_and_mark) {
    return ((from >> 32) + 1) << 32 | index_and_mark;
  }
  [[nodiscard]] std::uint64_t* head(std::uint32_t bucket) const {
    return reinterpret_cast<std::uint64_t*>(base_ + sizeof(HashHeader)) + bucket;
  }
  [[nodiscard]] HashElement& element(std::uint32_t index) const {
    return *reinterpret_cast<HashElement*>(base_ + layout_.elements_at + std::uint64_t{index} * layout_.stride);
  }
  [[nodiscard]] std::byte* value(std::uint32_t index, std::uint32_t row) const {
    return reinterpret_cast<std::byte*>(&element(index)) + layout_.value_at + layout_.row_at(row) * layout_.row_stride;
  }
  [[nodiscard]] std::uint32_t bucket_of(const void* key) const {
    return static_cast<std::uint32_t>(hash_bytes(key, layout_.key_size)) & (layout_.buckets - 1);
  }
  [[nodiscard]] bool has_key(HashElement& at, const void* key) const;

  // nullptr as `key`: to the chain's end.
  Walk walk(std::uint32_t bucket, const void* key, Spot& spot) const;
  Walk walk_once(std::uint32_t bucket, const void* key, Spot& spot, bool& again) const;
  bool unlink(std::uint64_t* from, std::uint64_t& from_word, std::uint32_t index, std::uint64_t link) const;
  bool remove_at(std::uint32_t bucket, const Spot& spot) const;
  template <typename Fill>
  int store(const void* key, std::uint64_t flags, const Fill& fill) const;
  int first_from(std::uint32_t bucket, void* key) const;
  int key_of(std::uint32_t index, std::uint32_t bucket, void* key) const;

  [[nodiscard]] std::uint32_t take_element() const;
  [[nodiscard]] std::uint32_t take_spare() const;
  void give_back(std::uint32_t index) const;
  bool make_room() const;

  // False: the run that looks for something here has ended.
  [[nodiscard]] bool pay(std::uint64_t units) const { return payer_ == nullptr || payer_->spend(units); }

  std::byte* base_;
  const MapLayout& layout_;
  Machine* payer_;
};

}  // namespace landtrace::bpf
