// The table of a histogram: found and filled by any number of threads of any number of processes, without a lock. What
// it looks like, layout.hpp draws.
//
//                  take_element()            key written              swap of an empty slot
//   never used  ------------------>  taken  ------------>  private  ------------------------>  in the table, for ever
//        given back  ------------->    |                      |
//            ^                         '-- killed: lost       | another had inserted the same key
//            '------------------------------------------------'
//                                give_back()
//
// Who writes: producers of one user. An insertion takes an element (of those given back, or the next of those never
// used), writes the key into it, and publishes it with one compare-and-swap of an empty slot. A slot never changes
// again, and everybody probes the same slots in the same order up to the first empty one, so that no key is there
// twice. Whoever loses the race for a slot looks at what is in it now: the same key, then the element is given back;
// another key, then the search goes on, with the element in hand. Killed at any instruction: before the swap an element
// is lost, after it the key is there. Nobody ever waits.
//
// Who reads: producers, and the owner (language/histogram/table_reader.hpp). An element is in the table if its hit
// count is not 0: it is counted only by those who found it by a slot. So the owner need not look at slots.
//
// Elements that are given back form a list: TableHeader::spare, whose tag makes its compare-and-swap safe against the
// same element coming back. The next one is named in the first word of the key, which is written anew before the
// element is used.
//
// Order: the key's words are stored before the slot (release), and loaded after it (acquire); so they are before the
// hit count (release), by which the owner loads them (acquire). The next element's number is stored before `spare`
// (release), and loaded after it (acquire). Sums and values are single words that order nothing.
//
// The memory is not trusted: an element's number is checked wherever it is read, and no search is longer than
// kMaxProbes.
#pragma once

#include <algorithm>
#include <cstring>

#include "hist/layout.hpp"

namespace landtrace::hist {

namespace detail {

inline std::uint64_t load_word(const std::byte* at) {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(at), __ATOMIC_RELAXED);
}
inline void store_word(std::byte* at, std::uint64_t word) {
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(at), word, __ATOMIC_RELAXED);
}
inline std::uint64_t add_to_word(std::byte* at, std::uint64_t number) {
  return __atomic_fetch_add(reinterpret_cast<std::uint64_t*>(at), number, __ATOMIC_RELAXED);
}
// Pairs with the acquire load in load_hitcount(): whoever sees the hit sees the key, as its producer has by the slot.
inline void count_hit(std::byte* hitcount) {
  __atomic_fetch_add(reinterpret_cast<std::uint64_t*>(hitcount), 1, __ATOMIC_RELEASE);
}
// Pairs with the count in count_hit().
inline std::uint64_t load_hitcount(const std::byte* at) {
  return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(at), __ATOMIC_ACQUIRE);
}

inline void load_words(void* to, const std::byte* from, std::uint32_t size) {
  for (std::uint32_t i = 0; i < size; i += 8) {
    const std::uint64_t word = load_word(from + i);
    std::memcpy(static_cast<std::byte*>(to) + i, &word, sizeof word);
  }
}
inline void store_words(std::byte* to, const void* from, std::uint32_t size) {
  for (std::uint32_t i = 0; i < size; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, static_cast<const std::byte*>(from) + i, sizeof word);
    store_word(to + i, word);
  }
}

}  // namespace detail

// Of a key, which has whole words, one at least.
inline std::uint64_t hash_key(const std::uint64_t* key, std::uint32_t size) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
  std::uint64_t hash = (size ^ key[0]) * kOdd;
  hash ^= hash >> 32;
  for (std::uint32_t i = 1; i < size / 8; ++i) {
    hash = (hash ^ key[i]) * kOdd;
    hash ^= hash >> 32;
  }
  hash *= kOdd;
  return hash ^ hash >> 29;
}

class Table {
 public:
  // `base` is the table's place in a data segment. Both must stay.
  Table(std::byte* base, const TableLayout& layout) : base_(base), layout_(layout) {}

  [[nodiscard]] TableHeader& header() const { return *reinterpret_cast<TableHeader*>(base_); }
  // By a number that is below layout.elements.
  [[nodiscard]] std::byte* element(std::uint32_t index) const {
    return base_ + layout_.elements_at + std::uint64_t{index} * layout_.stride;
  }

  [[nodiscard]] std::uint32_t index_of(const std::byte* at) const {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(at - element(0)) / layout_.stride);
  }

  // nullptr: not there. `key` has layout.key_size bytes.
  [[nodiscard]] std::byte* find(const std::uint64_t* key) const {
    const std::uint64_t hash = hash_key(key, layout_.key_size);
    std::byte* const found = at_first_slot(hash, key, layout_.key_size);
    return __builtin_expect(found != nullptr, 1) ? found : search(key, hash);
  }

  // nullptr: the table is full (or so crowded around the key's slot that it makes no difference), which is counted.
  // `comm` gives the kCommSize bytes that a new element gets, if the layout has them.
  template <typename Comm>
  std::byte* find_or_insert(const std::uint64_t* key, const Comm& comm) {
    const std::uint64_t hash = hash_key(key, layout_.key_size);
    std::byte* const found = at_first_slot(hash, key, layout_.key_size);
    return __builtin_expect(found != nullptr, 1) ? found : search_or_insert(key, hash, comm);
  }

  // The same where keys have one word and elements no names.
  std::byte* find_or_insert_word(std::uint64_t key) {
    constexpr std::uint32_t kSize = sizeof key;
    const std::uint64_t hash = hash_key(&key, kSize);
    std::byte* const found = at_first_slot(hash, &key, kSize);
    if (__builtin_expect(found != nullptr, 1)) return found;
    return search_or_insert(&key, hash, [] { return kNobody; });
  }

 private:
  static constexpr std::uint32_t kNone = ~0u;
  static constexpr char kNobody[kCommSize] = {};

  // No search is longer, so that a program that fills all slots does not keep others busy. In a sound table at most
  // every other slot is in use, and a search ends long before.
  static constexpr std::uint32_t kMaxProbes = 4096;

  // Goes along the slots that a key may be in.
  class Probe {
   public:
    Probe(const Table& table, std::uint64_t hash)
        : table_(table),
          hash_(hash),
          left_(std::min(table.layout_.slots(), kMaxProbes)),
          slot_(static_cast<std::uint32_t>(hash)) {}

    // Puts what is in the next slot into `word`; 0 ends the search. Returns the element if it is the key's.
    std::byte* next(const std::uint64_t* key, std::uint64_t& word) {
      if (left_-- == 0) {
        word = 0;
        is_at_end_ = true;
        return nullptr;
      }
      slot_ &= table_.layout_.slots() - 1;
      std::uint64_t* const slot = table_.slots() + slot_;
      // Pairs with the swap in insert(): the element's key is there.
      word = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
      if (word == 0) return nullptr;
      ++slot_;
      return table_.matching(word, hash_, key, table_.layout_.key_size);
    }

    // The empty slot at which the search ended; nullptr: there is none.
    [[nodiscard]] std::uint64_t* empty() const { return is_at_end_ ? nullptr : table_.slots() + slot_; }

   private:
    const Table& table_;
    std::uint64_t hash_;
    std::uint32_t left_;
    std::uint32_t slot_;
    bool is_at_end_ = false;
  };

  [[nodiscard]] std::uint64_t* slots() const { return reinterpret_cast<std::uint64_t*>(base_ + sizeof(TableHeader)); }

  static std::uint64_t slot_word(std::uint64_t hash, std::uint32_t element) {
    return (hash >> 32) << 32 | (std::uint64_t{element} + 1);
  }

  // nullptr for a slot that is empty, or another key's.
  [[nodiscard]] std::byte* matching(std::uint64_t word, std::uint64_t hash, const std::uint64_t* key,
                                    std::uint32_t key_size) const {
    if ((word ^ hash) >> 32 != 0) return nullptr;
    const std::uint32_t index = static_cast<std::uint32_t>(word) - 1;
    if (index >= layout_.elements) return nullptr;
    std::byte* const at = element(index);
    for (std::uint32_t i = 0; i < key_size / 8; ++i) {
      if (detail::load_word(at + 8 * i) != key[i]) return nullptr;
    }
    return at;
  }

  // Where nearly all keys are.
  [[nodiscard]] std::byte* at_first_slot(std::uint64_t hash, const std::uint64_t* key, std::uint32_t key_size) const {
    const std::uint64_t* const slot = slots() + (static_cast<std::uint32_t>(hash) & (layout_.slots() - 1));
    // As in Probe::next(), pairs with the swap in insert(): the element's key is there.
    return matching(__atomic_load_n(slot, __ATOMIC_ACQUIRE), hash, key, key_size);
  }

  [[nodiscard, gnu::noinline]] std::byte* search(const std::uint64_t* key, std::uint64_t hash) const {
    Probe probe(*this, hash);
    return search(key, probe);
  }
  // Up to the first empty slot.
  [[nodiscard]] static std::byte* search(const std::uint64_t* key, Probe& probe) {
    std::uint64_t word = 0;
    for (std::byte* found = probe.next(key, word); word != 0; found = probe.next(key, word)) {
      if (found != nullptr) return found;
    }
    return nullptr;
  }

  template <typename Comm>
  [[gnu::noinline]] std::byte* search_or_insert(const std::uint64_t* key, std::uint64_t hash, const Comm& comm) {
    Probe probe(*this, hash);
    std::byte* const found = search(key, probe);
    return found != nullptr ? found : insert(key, hash, probe, comm);
  }

  template <typename Comm>
  std::byte* insert(const std::uint64_t* key, std::uint64_t hash, Probe& probe, const Comm& comm) {
    const std::uint32_t index = probe.empty() == nullptr ? kNone : take_element();
    if (index == kNone) {
      __atomic_fetch_add(&header().dropped, 1, __ATOMIC_RELAXED);
      return nullptr;
    }
    std::byte* const at = element(index);
    detail::store_words(at, key, layout_.key_size);
    if (layout_.comm_at != 0) detail::store_words(at + layout_.comm_at, comm(), kCommSize);
    const std::uint64_t word = slot_word(hash, index);
    for (;;) {
      std::uint64_t now = 0;
      // Publishes the key: pairs with the acquire load in Probe::next().
      if (__atomic_compare_exchange_n(probe.empty(), &now, word, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return at;
      // Another thread was faster, with this key or with another one.
      for (std::byte* found = probe.next(key, now); now != 0; found = probe.next(key, now)) {
        if (found == nullptr) continue;
        give_back(index);
        return found;
      }
      if (probe.empty() == nullptr) break;
    }
    give_back(index);
    __atomic_fetch_add(&header().dropped, 1, __ATOMIC_RELAXED);
    return nullptr;
  }

  // -- elements that are in no slot -------------------------------------------------------------------------------
  static constexpr std::uint64_t kTagUnit = 1ull << 32;

  [[nodiscard]] std::uint32_t take_element() const {
    TableHeader& head = header();
    // Pairs with the swap in give_back(): the next element's number is there.
    std::uint64_t spare = __atomic_load_n(&head.spare, __ATOMIC_ACQUIRE);
    while (static_cast<std::uint32_t>(spare) - 1 < layout_.elements) {
      const std::uint32_t index = static_cast<std::uint32_t>(spare) - 1;
      const std::uint64_t next = static_cast<std::uint32_t>(detail::load_word(element(index)));
      const std::uint64_t rest = ((spare >> 32) + 1) * kTagUnit | next;
      // Where it fails it is the load above once more, with the same partner.
      if (__atomic_compare_exchange_n(&head.spare, &spare, rest, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        return index;
      }
    }
    // Looked at first, so that events that find the table full do not count it up for ever.
    if (__atomic_load_n(&head.taken, __ATOMIC_RELAXED) >= layout_.elements) return kNone;
    const std::uint64_t index = __atomic_fetch_add(&head.taken, 1, __ATOMIC_RELAXED);
    return index < layout_.elements ? static_cast<std::uint32_t>(index) : kNone;
  }

  void give_back(std::uint32_t index) const {
    TableHeader& head = header();
    std::uint64_t spare = __atomic_load_n(&head.spare, __ATOMIC_RELAXED);
    std::uint64_t first = 0;
    do {
      detail::store_word(element(index), static_cast<std::uint32_t>(spare));
      first = ((spare >> 32) + 1) * kTagUnit | (std::uint64_t{index} + 1);
      // Publishes the number just stored: pairs with the acquire load in take_element().
    } while (!__atomic_compare_exchange_n(&head.spare, &spare, first, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  }

  std::byte* base_;
  const TableLayout& layout_;
};

}  // namespace landtrace::hist
