// RINGBUF, laid out as the kernel's, so that a tool's library reads it as it reads that one.
//
//     page 0: consumer position      page 1: producer position      from page 2: data, a power of two
//
//   a record           0                       4            8
//                      +-----------------------+------------+---------------+
//                      | length | busy, discard| check      | data          |     to a multiple of 8
//                      +-----------------------+------------+---------------+
//
//   The kernel keeps a page number where `check` is, which readers do not look at. Here it is
//     the position / 8     of a record that is not held any more, or that nobody has yet
//     a thread's id        while a thread holds the record
//
// To reserve: mark the header at the producer position as busy, by a swap of what is there for a header of that very
// position; then swap the position. Two threads that do so at once put down the same mark, and one that comes late
// fails to: what is there now is not what it has seen. So a reader that sees a position sees a busy header behind it.
// Only then the header gets its length. Records do not wrap around: the rest of the data is a discarded record.
//
// One that comes more than a lap late may find what it has seen all the same: some zeros, in another one's record. It
// sees by the position that it is late, and puts back what was there; nobody else changes that word but who writes the
// record. Within the lap it must not: its mark may be what another one has reserved by. (A reader that comes by within
// these few instructions has a spoilt word: a place that is not one's own yet cannot be marked more safely by a swap.)
//
// A thread that is killed while it holds a record leaves it busy: release_dead() gives it up once the thread is gone.
// One that is killed before the header has its length leaves a place of which nobody knows how long it is: the owner
// sees that it is stuck(), waits until all threads that were at work then are done, and has it given up with what
// stands behind it, up to the next record that is complete.
//
// The memory is hostile: positions are taken modulo the size, and a record that is held lies where it was when it was
// reserved.
#pragma once

#include <optional>

#include "bpf/machine.hpp"
#include "bpf/map_layout.hpp"

namespace landtrace::bpf {

inline constexpr std::uint32_t kRingHeaderSize = 8;
inline constexpr std::uint32_t kRingBusy = 1u << 31;
inline constexpr std::uint32_t kRingDiscard = 1u << 30;

class RecordRing {
 public:
  // `data` is the data segment.
  RecordRing(std::byte* data, const MapLayout& layout) : RecordRing(data + layout.place, layout.max_entries) {}
  // `size` is a power of two.
  RecordRing(std::byte* base, std::uint64_t size) : base_(base), size_(size) {}

  struct Record {
    // nullptr: no room, which is counted.
    std::byte* data;
    std::uint32_t length;
    std::uint64_t position;
  };
  // `payer`: the program's run that wants one, and pays for each further try.
  [[nodiscard]] Record reserve(std::uint32_t length, std::uint32_t tid, Machine* payer = nullptr) const;
  // `record` is from reserve().
  void release(const Record& record, bool discard) const;

  // The two steps of a mark, as reserve() makes them; others may do anything in between. nullopt, false: the position
  // is another one by now.
  [[nodiscard]] std::optional<std::uint64_t> look_at_next(std::uint64_t position) const;
  [[nodiscard]] bool mark_next(std::uint64_t position, std::uint64_t seen) const;

  [[nodiscard]] std::uint64_t* consumer() const { return reinterpret_cast<std::uint64_t*>(base_); }
  [[nodiscard]] std::uint64_t* producer() const { return reinterpret_cast<std::uint64_t*>(base_ + kMapPage); }
  // Records that found no room.
  [[nodiscard]] std::uint64_t* dropped() const { return producer() + 1; }
  [[nodiscard]] bool has_data() const {
    // Pairs with the swap in reserve().
    return __atomic_load_n(consumer(), __ATOMIC_RELAXED) != __atomic_load_n(producer(), __ATOMIC_ACQUIRE);
  }
  // Whether a reader would get on: the record that is its next one is complete. (What is left of a lap is none.)
  [[nodiscard]] bool is_readable() const;

  // Calls take(data, length) for each record that is complete and not discarded, up to the first that is held.
  template <typename Take>
  std::uint32_t consume(const Take& take) const {
    std::uint32_t count = 0;
    const std::uint64_t begin_at = __atomic_load_n(consumer(), __ATOMIC_RELAXED);
    for (std::uint64_t at = begin_at;;) {
      // Pairs with the swap in reserve(). One lap at most: positions that are spoilt may be any.
      if (at == __atomic_load_n(producer(), __ATOMIC_ACQUIRE) || at - begin_at > size_) return count;
      // Pairs with the release store in release().
      const std::uint64_t word = __atomic_load_n(header(at), __ATOMIC_ACQUIRE);
      const auto length = static_cast<std::uint32_t>(word);
      if ((length & kRingBusy) != 0) return count;
      const std::uint64_t bytes = length & ~kRingDiscard;
      const std::uint64_t begin = (at & (size_ - 1)) + kRingHeaderSize;
      if (begin + bytes > size_) return count;  // spoilt
      if ((length & kRingDiscard) == 0) {
        take(data() + begin, static_cast<std::uint32_t>(bytes));
        ++count;
      }
      at += rounded(bytes + kRingHeaderSize, 8);
      // What was read is free from here on: pairs with the acquire load in reserve().
      __atomic_store_n(consumer(), at, __ATOMIC_RELEASE);
    }
  }

  // The reader's next record is held: whose is it? 0: nobody's known.
  [[nodiscard]] std::uint32_t holder() const;
  // The thread that holds the reader's next record is gone: it is discarded.
  void release_dead(std::uint32_t tid) const;

  // The first record has no length yet, so nobody is known who holds it.
  struct Stuck {
    std::uint64_t at;
    // The producer position: a record begins or began there, too.
    std::uint64_t end;
    bool operator==(const Stuck&) const = default;
  };
  [[nodiscard]] std::optional<Stuck> stuck() const;
  // Whoever was in the middle of a program when that was seen is not any more: if it still is so, what stands there is
  // discarded.
  void give_up(const Stuck& stuck) const;

 private:
  [[nodiscard]] std::byte* data() const { return base_ + 2 * kMapPage; }
  [[nodiscard]] std::uint64_t* header(std::uint64_t position) const {
    return reinterpret_cast<std::uint64_t*>(data() + (position & (size_ - 1) & ~7ull));
  }
  static std::uint64_t word_of(std::uint32_t length, std::uint32_t check) {
    return length | static_cast<std::uint64_t>(check) << 32;
  }
  static std::uint32_t check_of(std::uint64_t position) { return static_cast<std::uint32_t>(position >> 3); }
  // Where the reader's next record is: the first one, or the one behind it if that is what was left of a lap.
  [[nodiscard]] std::uint64_t next_at() const;
  // Where the record there ends; 0: it is not complete, nor held.
  [[nodiscard]] std::uint64_t end_of(std::uint64_t position, std::uint64_t limit) const;
  // Behind the stuck place, where the first one begins from which records follow each other up to the end; else that.
  [[nodiscard]] std::uint64_t first_record(const Stuck& stuck) const;

  std::byte* base_;
  std::uint64_t size_;
};

}  // namespace landtrace::bpf
