// Walks one ring record by record, and says where events are missing.
//
// The ring's writer may put anything there. Time is kept within bounds: it does not go backwards within a
// ring, and no record is from before the session or from after it was read. So what one user makes up cannot
// hold up or displace the events of others.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "arch/clock.hpp"
#include "buffer/frozen.hpp"
#include "ring/reader.hpp"

namespace landtrace::buffer {

// Where a reader of a ring is: records of the ring before this one that it has behind it, then a place in the ring.
struct Place {
  std::size_t frozen = 0;
  ring::Mark live{};
};

class RingCursor {
 public:
  // `user` is for the caller; `started` is the raw time before which there was no session.
  RingCursor(const std::byte* ring, ring::Geometry geometry, std::uint32_t user, arch::RawClock raw_clock,
             std::uint64_t started);
  // Reads from a place that another cursor of the ring was at, or that was the ring's end once.
  struct Begin {
    Place from{};
    ring::Mark end{~0ull, ~0ull};          // nothing from there on is read
    std::uint64_t discarded = 0;           // events that the ring's writers found no room for, and are not asked for
    std::shared_ptr<const Frozen> frozen;  // what comes before the ring
  };
  RingCursor(const std::byte* ring, ring::Geometry geometry, std::uint32_t user, arch::RawClock raw_clock,
             std::uint64_t started, Begin begin);
  RingCursor(const RingCursor&) = delete;
  RingCursor& operator=(const RingCursor&) = delete;

  // How many times ready() may read from the ring from here on.
  void allow_reads(int reads) { reads_left_ = reads; }
  [[nodiscard]] bool out_of_reads() const { return reads_left_ == 0; }

  // Whether a record stands ready.
  bool ready() { return at_ < stop_ || find_next(); }
  // The record that stands ready, and its time.
  [[nodiscard]] const ring::RecordView& record() const { return (*records_)[at_]; }
  [[nodiscard]] std::uint64_t clock() const { return clock_; }
  void pop() {
    if (++at_ < stop_) take_clock();
  }

  // The place of that record; where none stands ready, where the next one will be looked for.
  [[nodiscard]] Place place() const;
  // Records that were copied out of the ring and stand ready.
  [[nodiscard]] std::size_t pending() const { return records_ != nullptr && !in_frozen_ ? records_->size() - at_ : 0; }
  // Records handed out so far.
  [[nodiscard]] std::uint64_t taken() const { return taken_ + (at_ - batch_begin_); }
  // Where the ring will be read next: what stands before is in hand already.
  [[nodiscard]] ring::Mark read_up_to() const { return reader_.place(); }

  // Events that are missing between the record before and the one that stands ready.
  [[nodiscard]] bool has_lost() const { return lost_ != 0; }
  std::uint64_t take_lost() { return lost_ == 0 ? 0 : std::exchange(lost_, 0); }
  // What is missing after the last record.
  std::uint64_t take_rest();

  [[nodiscard]] std::uint32_t user() const { return user_; }
  // Whether the ring ever held a record.
  [[nodiscard]] bool is_used() const { return used_; }
  // Up to here the ring's room is free again.
  [[nodiscard]] std::uint64_t position() const { return reader_.position(); }
  [[nodiscard]] std::uint64_t written() const { return reader_.written(); }

  [[nodiscard]] std::uint64_t overwritten() const { return overwritten_; }
  [[nodiscard]] std::uint64_t discarded() const { return discarded_; }
  [[nodiscard]] std::uint64_t corrupt() const { return reader_.corrupt() + implausible_; }

 private:
  // Discarded events, and how many records the ring had got when they were noticed: they are missing before
  // the record with that number.
  struct Gap {
    std::uint64_t at;
    std::uint64_t count;
  };
  bool find_next();
  bool read();
  bool read_frozen();
  void note_discarded();
  void take_gaps();
  void take_clock();
  [[nodiscard]] bool is_plausible(std::uint64_t count);

  ring::Reader reader_;
  std::uint32_t user_;
  arch::RawClock raw_clock_;
  const std::vector<ring::RecordView>* records_ = nullptr;
  const ring::Reader::Batch* batch_ = nullptr;
  std::uint64_t taken_ = 0;  // of batches before
  std::size_t batch_begin_ = 0;
  std::size_t at_ = 0;       // the record that stands ready
  std::size_t stop_ = 0;     // the batch is handed out up to here without further thought
  std::uint64_t first_ = 0;  // number of the batch's first record
  std::uint64_t clock_;
  std::uint64_t newest_ = 0;  // when the batch was read
  std::uint64_t lost_ = 0;
  std::deque<Gap> gaps_;
  int reads_left_ = 0;
  bool used_ = false;

  std::shared_ptr<const Frozen> frozen_;
  std::size_t frozen_from_ = 0;
  bool in_frozen_ = false;  // records_ are those

  std::uint64_t overwritten_ = 0;
  std::uint64_t discarded_ = 0;
  std::uint64_t discarded_seen_ = 0;  // the ring's own figure
  std::uint64_t implausible_ = 0;
};

}  // namespace landtrace::buffer
