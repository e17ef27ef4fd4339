// Reads a ring that others write, without stopping them: see layout.hpp for what a reader may believe, and when.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ring/layout.hpp"

namespace landtrace::ring {

// Events that found no room (discard mode), in even turns of the consumer and in odd ones.
struct Discarded {
  std::array<std::uint64_t, 2> in_turn{};
  [[nodiscard]] std::uint64_t all() const { return in_turn[0] + in_turn[1]; }
};

// A record as a reader hands it out: valid until the next call to Reader::read().
struct RecordView {
  RecordHeader header;
  std::span<const std::byte> payload;  // header.words * 4 bytes
};

class Reader {
 public:
  // `ring` points at the ring's RingWords. Reads from the oldest intact record on.
  Reader(const std::byte* ring, Geometry geometry);
  // Reads from `from` on, which stood between two records once. What was overwritten since counts as lost.
  Reader(const std::byte* ring, Geometry geometry, Mark from)
      : ring_(ring), geometry_(geometry), position_(from.position), count_(from.count) {}

  // Nothing beyond `end`, which stands between two records, is read from here on.
  void stop_at(Mark end) { end_ = end; }

  // Copies whole records that follow position(), at most one internal buffer full, in order. An empty answer
  // means that nothing is there now, or that a writer at full speed has lapped the copy several times in a row: the
  // next call goes on. `lost_before` of the batch says how many events between the previous batch
  // and this one were overwritten before they could be read.
  struct Batch {
    std::vector<RecordView> records;
    std::uint64_t lost_before = 0;
    Mark start{};                      // where the first record stands in the ring
    const std::byte* bytes = nullptr;  // the copy of what stands from there on

    [[nodiscard]] Mark place_of(std::size_t index) const {
      const std::byte* const record = records[index].payload.data() - arch::kRecordHeader;
      return {start.position + static_cast<std::uint64_t>(record - bytes), start.count + index};
    }
  };
  // The batch and the bytes it points at belong to the reader.
  const Batch& read();

  // Where the next read() begins. A consumer publishes it to make room in discard mode.
  [[nodiscard]] std::uint64_t position() const { return position_; }
  // The same, with the number of records before it.
  [[nodiscard]] Mark place() const { return {position_, count_}; }
  // Events overwritten before this reader got to them, so far.
  [[nodiscard]] std::uint64_t lost() const { return lost_; }
  // Events that writers found no room for (discard mode), so far, over all readers.
  [[nodiscard]] Discarded discarded() const;
  // Places where the ring held something that a sound writer does not leave; reading went on at the next mark.
  [[nodiscard]] std::uint64_t corrupt() const { return corrupt_; }
  // Records committed to the ring since it was made.
  [[nodiscard]] std::uint64_t written() const;
  // Where the next record will stand, and how many there were before it.
  [[nodiscard]] Mark end() const { return load_commit(); }
  // Whether somebody holds the ring now: a record may come whose time was read before this call.
  [[nodiscard]] bool is_claimed() const;
  // Whether what stands from that position on has not been overwritten yet.
  [[nodiscard]] bool is_intact(std::uint64_t position) const;
  // The oldest place from which all records up to the end are intact.
  [[nodiscard]] Mark oldest() const;

 private:
  [[nodiscard]] Mark load_commit() const;
  [[nodiscard]] std::uint64_t load_intent() const;
  // The oldest valid mark at or after `from`; the commit itself if there is none.
  [[nodiscard]] Mark oldest_mark(std::uint64_t from, Mark commit) const;
  void go_to(Mark mark);
  void resync(Mark commit);
  std::size_t copy_out(std::uint64_t tail);
  bool parse(std::size_t bytes, Mark commit);

  const std::byte* ring_;
  Geometry geometry_;
  std::uint64_t position_ = 0;
  // Records before position_.
  std::uint64_t count_ = 0;
  Mark end_{~0ull, ~0ull};
  std::uint64_t lost_ = 0;
  std::uint64_t corrupt_ = 0;
  std::vector<std::byte> buffer_;
  Batch batch_;
};

}  // namespace landtrace::ring
