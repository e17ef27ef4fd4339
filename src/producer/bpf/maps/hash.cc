#include "bpf/maps/hash.hpp"

#include <linux/bpf.h>

#include <cerrno>

#include "bpf/words.hpp"

namespace landtrace::bpf {
namespace {

std::uint64_t word_of(const std::byte* from) {
  std::uint64_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}
// Less than a word: mostly four bytes, for which memcpy() is not called.
std::uint64_t rest_of(const std::byte* from, std::uint32_t size) {
  if (size == 4) {
    std::uint32_t half;
    std::memcpy(&half, from, sizeof half);
    return half;
  }
  std::uint64_t word = 0;
  for (std::uint32_t i = 0; i < size; ++i) word |= std::to_integer<std::uint64_t>(from[i]) << 8 * i;
  return word;
}

}  // namespace

std::uint64_t hash_bytes(const void* key, std::uint32_t size) {
  const auto* at = static_cast<const std::byte*>(key);
  std::uint64_t hash = size;
  for (; size >= 8; size -= 8, at += 8) {
    hash = (hash ^ word_of(at)) * kHashFactor;
    hash ^= hash >> 32;
  }
  if (size > 0) {
    hash = (hash ^ rest_of(at, size)) * kHashFactor;
    hash ^= hash >> 32;
  }
  return hash;
}

bool Hash::has_key(HashElement& at, const void* key) const {
  const std::byte* const there = at.key();
  const auto* const wanted = static_cast<const std::byte*>(key);
  std::uint32_t i = 0;
  for (; i + 8 <= layout_.key_size; i += 8) {
    if (load_relaxed(reinterpret_cast<const std::uint64_t*>(there + i)) != word_of(wanted + i)) return false;
  }
  if (i == layout_.key_size) return true;
  // Behind the key stand zeros up to the next word.
  return load_relaxed(reinterpret_cast<const std::uint64_t*>(there + i)) == rest_of(wanted + i, layout_.key_size - i);
}

// Takes a deleted element out of its chain; `from_word` is what leads on from there then. False: another was faster.
bool Hash::unlink(std::uint64_t* from, std::uint64_t& from_word, std::uint32_t index, std::uint64_t link) const {
  const std::uint64_t past = follower(from_word, link & kIndexMask);
  // Pairs with the acquire loads in walk_once(), as every change of a word that leads on.
  if (!__atomic_compare_exchange_n(from, &from_word, past, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return false;
  from_word = past;
  give_back(index);
  return true;
}

Hash::Walk Hash::walk_once(std::uint32_t bucket, const void* key, Spot& spot, bool& again) const {
  again = false;
  spot.from = head(bucket);
  // Pairs with the swap in store(): what the element has stands there.
  spot.from_word = spot.head_word = __atomic_load_n(spot.from, __ATOMIC_ACQUIRE);
  for (spot.steps = 0; spot.steps < kMaxSteps; ++spot.steps) {
    spot.index = static_cast<std::uint32_t>(spot.from_word & kIndexMask) - 1;
    if (spot.index == kNone) return Walk::kEnd;
    if (spot.index >= layout_.max_entries) return Walk::kBroken;
    HashElement& at = element(spot.index);
    // As above: pairs with the swaps of links.
    spot.link = __atomic_load_n(&at.link, __ATOMIC_ACQUIRE);
    // Pairs with the swaps of that word: if it has not changed, the link is that of an element in this chain.
    if (__atomic_load_n(spot.from, __ATOMIC_ACQUIRE) != spot.from_word || load_relaxed(&at.bucket) != bucket) break;
    if ((spot.link & kDeleted) != 0) {
      const bool at_head = spot.from == head(bucket);
      if (!unlink(spot.from, spot.from_word, spot.index, spot.link)) break;
      if (at_head) spot.head_word = spot.from_word;
      continue;
    }
    if (key != nullptr && has_key(at, key)) {
      __atomic_thread_fence(__ATOMIC_ACQUIRE);  // the key, then the link: pairs with the release in give_back()
      if (load_relaxed(&at.link) >> 32 == spot.link >> 32) return Walk::kFound;
      break;
    }
    spot.from = &at.link;
    spot.from_word = spot.link;
  }
  again = true;
  return Walk::kBroken;
}

Hash::Walk Hash::walk(std::uint32_t bucket, const void* key, Spot& spot) const {
  bool again = true;
  Walk result = Walk::kBroken;
  for (std::uint32_t i = 0; again && i < kMaxRestarts; ++i) {
    result = walk_once(bucket, key, spot, again);
    // One and the next cost nothing: code looks at them by itself.
    const bool is_short = spot.steps < 2 && !again;
    if (!is_short && !pay((spot.steps + 1) * (1 + layout_.key_size / 8))) return Walk::kBroken;
  }
  return result;
}

std::byte* Hash::find(const void* key, std::uint32_t row) const {
  Spot spot;
  if (walk(bucket_of(key), key, spot) != Walk::kFound) return nullptr;
  if (layout_.kind == kLruHash && load_relaxed(&element(spot.index).touched) == 0) {
    __atomic_store_n(&element(spot.index).touched, 1, __ATOMIC_RELAXED);
  }
  return value(spot.index, row);
}

template <typename Fill>
int Hash::store(const void* key, std::uint64_t flags, const Fill& fill) const {
  if (flags > BPF_EXIST) return -EINVAL;
  const std::uint32_t bucket = bucket_of(key);
  std::uint32_t fresh = kNone;
  int result = -E2BIG;
  for (std::uint32_t i = 0; i < kMaxRestarts; ++i) {
    Spot spot;
    const Walk found = walk(bucket, key, spot);
    if (found == Walk::kBroken) break;
    if (found == Walk::kFound) {
      result = flags == BPF_NOEXIST ? -EEXIST : 0;
      if (result == 0) fill(spot.index, false);
      break;
    }
    if (flags == BPF_EXIST) {
      result = -ENOENT;
      break;
    }
    if (fresh == kNone) {
      fresh = take_element();
      if (fresh == kNone) break;
      HashElement& at = element(fresh);
      if (layout_.key_size % 8 != 0) clear_words(at.key() + layout_.key_size / 8 * 8, 8);
      copy_in(at.key(), key, layout_.key_size);
      fill(fresh, true);
      __atomic_store_n(&at.touched, 0, __ATOMIC_RELAXED);
      __atomic_store_n(&at.bucket, bucket, __ATOMIC_RELAXED);
    }
    std::uint64_t& link = element(fresh).link;
    __atomic_store_n(&link, follower(load_relaxed(&link), spot.head_word & kIndexMask), __ATOMIC_RELAXED);
    // Publishes the element: pairs with the acquire loads in walk_once().
    if (__atomic_compare_exchange_n(head(bucket), &spot.head_word, follower(spot.head_word, fresh + 1), false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      return 0;
    }
  }
  if (fresh != kNone) give_back(fresh);
  if (result == -E2BIG) __atomic_fetch_add(&header().dropped, 1, __ATOMIC_RELAXED);
  return result;
}

int Hash::update(const void* key, const void* wanted, std::uint32_t row, std::uint64_t flags) const {
  return store(key, flags, [&](std::uint32_t index, bool is_new) {
    for (std::uint32_t other = 0; is_new && other < layout_.rows; ++other) {
      clear_words(value(index, other), rounded(layout_.value_size, 8));
    }
    copy_in(value(index, row), wanted, layout_.value_size);
  });
}

int Hash::update_rows(const void* key, const std::byte* values, std::uint64_t flags) const {
  return store(key, flags, [&](std::uint32_t index, bool) {
    const std::uint64_t stride = rounded(layout_.value_size, 8);
    for (std::uint32_t row = 0; row < layout_.rows; ++row)
      copy_in(value(index, row), values + row * stride, layout_.value_size);
  });
}

bool Hash::remove_at(std::uint32_t bucket, const Spot& spot) const {
  std::uint64_t link = spot.link;
  const std::uint64_t marked = follower(link, (link & kIndexMask) | kDeleted);
  // Whoever does this removes it. Pairs with the acquire loads in walk_once().
  if (!__atomic_compare_exchange_n(&element(spot.index).link, &link, marked, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    return false;
  }
  std::uint64_t from_word = spot.from_word;
  if (!unlink(spot.from, from_word, spot.index, marked)) {
    Spot end;
    walk(bucket, nullptr, end);
  }
  return true;
}

int Hash::remove(const void* key) const {
  const std::uint32_t bucket = bucket_of(key);
  for (std::uint32_t i = 0; i < kMaxRestarts; ++i) {
    Spot spot;
    if (walk(bucket, key, spot) != Walk::kFound) return -ENOENT;
    if (remove_at(bucket, spot)) return 0;
  }
  return -ENOENT;
}

// -- in order -------------------------------------------------------------------------------------------------------

int Hash::key_of(std::uint32_t index, std::uint32_t bucket, void* key) const {
  HashElement& at = element(index);
  // As in walk_once(): pairs with the swaps of links and heads.
  const std::uint64_t link = __atomic_load_n(&at.link, __ATOMIC_ACQUIRE);
  if ((link & kDeleted) != 0 || load_relaxed(&at.bucket) != bucket) return -ENOENT;
  copy_out(key, at.key(), layout_.key_size);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);  // the key, then the link: pairs with the release in give_back()
  return load_relaxed(&at.link) >> 32 == link >> 32 ? 0 : -ENOENT;
}

int Hash::first_from(std::uint32_t bucket, void* key) const {
  for (; bucket < layout_.buckets; ++bucket) {
    // As in walk_once(): pairs with the swaps of links and heads.
    std::uint64_t word = __atomic_load_n(head(bucket), __ATOMIC_ACQUIRE);
    for (std::uint32_t steps = 0; steps < kMaxSteps && (word & kIndexMask) != 0; ++steps) {
      const auto index = static_cast<std::uint32_t>(word & kIndexMask) - 1;
      if (index >= layout_.max_entries) break;
      if (key_of(index, bucket, key) == 0) return 0;
      word = __atomic_load_n(&element(index).link, __ATOMIC_ACQUIRE);  // pairs with the swaps of links
    }
  }
  return -ENOENT;
}

int Hash::next(const void* key, void* next_key) const {
  if (key == nullptr) return first_from(0, next_key);
  const std::uint32_t bucket = bucket_of(key);
  Spot spot;
  if (walk(bucket, key, spot) != Walk::kFound) return first_from(0, next_key);
  std::uint64_t word = spot.link;
  for (std::uint32_t steps = 0; steps < kMaxSteps && (word & kIndexMask) != 0; ++steps) {
    const auto index = static_cast<std::uint32_t>(word & kIndexMask) - 1;
    if (index >= layout_.max_entries) break;
    if (key_of(index, bucket, next_key) == 0) return 0;
    word = __atomic_load_n(&element(index).link, __ATOMIC_ACQUIRE);  // pairs with the swaps of links
  }
  return first_from(bucket + 1, next_key);
}

// -- elements that are in no chain ------------------------------------------------------------------------------------

std::uint32_t Hash::take_spare() const {
  HashHeader& head = header();
  // Pairs with the swap in give_back(): the element's link is the next spare one's.
  std::uint64_t spare = __atomic_load_n(&head.spare, __ATOMIC_ACQUIRE);
  while (static_cast<std::uint32_t>(spare & kIndexMask) - 1 < layout_.max_entries) {
    const auto index = static_cast<std::uint32_t>(spare & kIndexMask) - 1;
    const std::uint64_t rest = follower(spare, load_relaxed(&element(index).link) & kIndexMask);
    // Where it fails it is the load above once more, with the same partner.
    if (__atomic_compare_exchange_n(&head.spare, &spare, rest, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return index;
    if (!pay(1)) return kNone;
  }
  if (load_relaxed(&head.taken) >= layout_.max_entries) return kNone;
  const std::uint64_t index = __atomic_fetch_add(&head.taken, 1, __ATOMIC_RELAXED);
  return index < layout_.max_entries ? static_cast<std::uint32_t>(index) : kNone;
}

std::uint32_t Hash::take_element() const {
  std::uint32_t index = take_spare();
  for (int i = 0; index == kNone && layout_.kind == kLruHash && i < 4; ++i) {
    if (!make_room()) break;
    index = take_spare();
  }
  return index;
}

void Hash::give_back(std::uint32_t index) const {
  HashHeader& head = header();
  HashElement& at = element(index);
  __atomic_store_n(&at.bucket, kNoBucket, __ATOMIC_RELAXED);
  std::uint64_t spare = load_relaxed(&head.spare);
  std::uint64_t first = 0;
  do {
    // Whoever still reads the key finds another tag afterwards: pairs with the fences in walk_once() and key_of().
    __atomic_store_n(&at.link, follower(load_relaxed(&at.link), spare & kIndexMask), __ATOMIC_RELEASE);
    first = follower(spare, index + 1);
    // Publishes the link: pairs with the acquire load in take_spare().
  } while (!__atomic_compare_exchange_n(&head.spare, &spare, first, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED) &&
           pay(1));
}

// Removes an element that nobody has looked at since the hand came by last.
bool Hash::make_room() const {
  constexpr std::uint32_t kMaxLooks = 256;
  for (std::uint32_t i = 0; i < kMaxLooks && pay(1); ++i) {
    const auto index =
        static_cast<std::uint32_t>(__atomic_fetch_add(&header().hand, 1, __ATOMIC_RELAXED) % layout_.max_entries);
    HashElement& at = element(index);
    // As in walk_once(): pairs with the swaps of links and heads.
    const std::uint64_t link = __atomic_load_n(&at.link, __ATOMIC_ACQUIRE);
    const std::uint32_t bucket = load_relaxed(&at.bucket);
    if ((link & kDeleted) != 0 || bucket >= layout_.buckets) continue;
    // In the second half of the looks whatever comes.
    if (i < kMaxLooks / 2 && load_relaxed(&at.touched) != 0) {
      __atomic_store_n(&at.touched, 0, __ATOMIC_RELAXED);
      continue;
    }
    std::uint64_t now = link;
    // Pairs with the acquire loads in walk_once().
    if (!__atomic_compare_exchange_n(&at.link, &now, follower(link, (link & kIndexMask) | kDeleted), false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      continue;
    }
    Spot end;
    walk(bucket, nullptr, end);
    return true;
  }
  return false;
}

}  // namespace landtrace::bpf
