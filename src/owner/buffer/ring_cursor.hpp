// Walks one ring record by record, and says where events are missing.
//
// The ring's writers may put anything there. So times are kept within bounds: within a ring they do not go backwards,
// and no record is from before the session or after the time of reading. What one user makes up can then neither hold
// up nor displace the events of others.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "arch/clock.hpp"
#include "buffer/frozen.hpp"
#include "ring/reader.hpp"

namespace landtrace::buffer {

// Where a reader of a ring is: how many frozen records it has read (see Frozen), then its place in the ring.
struct Place {
  std::size_t frozen = 0;
  ring::Mark live{};
};

class RingCursor {
 public:
  // How long a writer holds up others at most, in ticks of any raw clock: some 50 ms of a fast counter, 134 ms of
  // CLOCK_MONOTONIC.
  static constexpr std::uint64_t kPatience = 1 << 27;

  // `user` is for the caller; `started` is the raw time before which there was no session.
  RingCursor(const std::byte* ring, ring::Geometry geometry, std::uint32_t user, arch::RawClock raw_clock,
             std::uint64_t started);
  struct Begin {
    // The place of another cursor, or an earlier end of the ring.
    Place from{};
    // Nothing from here on is read.
    ring::Mark end{~0ull, ~0ull};
    // How many events the ring had discarded by then: they are not reported.
    ring::Discarded discarded{};
    // Records that are older than the ring.
    std::shared_ptr<const Frozen> frozen;
    // What give_back() told the writers last.
    std::uint64_t consumed = 0;
  };
  RingCursor(const std::byte* ring, ring::Geometry geometry, std::uint32_t user, arch::RawClock raw_clock,
             std::uint64_t started, Begin begin);
  RingCursor(const RingCursor&) = delete;
  RingCursor& operator=(const RingCursor&) = delete;

  // From here on ready() reads from the ring at most so many times.
  void allow_reads(int reads) { reads_left_ = reads; }
  [[nodiscard]] bool out_of_reads() const { return reads_left_ == 0; }

  // Whether there is a record; looks for one if need be.
  bool ready() { return at_ < stop_ || find_next(); }
  // That record, and its time.
  [[nodiscard]] const ring::RecordView& record() const { return (*records_)[at_]; }
  [[nodiscard]] std::uint64_t clock() const { return clock_; }
  void pop() {
    if (++at_ < stop_) take_clock();
  }

  // The place of that record; if there is none, the place where the next one is looked for.
  [[nodiscard]] Place place() const;
  // How many records are copied out of the ring and not popped yet.
  [[nodiscard]] std::size_t pending() const { return records_ != nullptr && !in_frozen_ ? records_->size() - at_ : 0; }
  // Records handed out so far.
  [[nodiscard]] std::uint64_t taken() const { return taken_ + (at_ - batch_begin_); }
  // Where the ring is read next: records before that are copied already.
  [[nodiscard]] ring::Mark read_up_to() const { return reader_.place(); }

  // How many events are missing between the record before and this one.
  [[nodiscard]] bool has_lost() const { return lost_ != 0; }
  std::uint64_t take_lost() { return lost_ == 0 ? 0 : std::exchange(lost_, 0); }
  // How many are missing after the last record.
  std::uint64_t take_rest();
  // The same as it is now, while more records may come: what take_lost() will tell of those that have not been told.
  std::uint64_t untold();
  // How many records have been handed out, or passed by as missing.
  [[nodiscard]] std::uint64_t passed() const;
  // How many records the ring has that have not been handed out.
  [[nodiscard]] std::uint64_t unread() const;

  // The time, at most `now`, up to which no record can come any more: of a ring that somebody is writing, when it was
  // last seen that nobody did. `now` is a raw time from before the call. Writers who stay inside (stopped, killed) hold
  // this up for kPatience at most.
  std::uint64_t settled(std::uint64_t now);

  [[nodiscard]] std::uint32_t user() const { return user_; }
  // Room in the ring up to here is free again.
  [[nodiscard]] std::uint64_t position() const { return reader_.position(); }
  // Discard mode: the word that tells the writers so, up to `position`. It begins a turn (ring/layout.hpp), so every
  // word is to reach them.
  [[nodiscard]] std::uint64_t give_back(std::uint64_t position);
  [[nodiscard]] std::uint64_t written() const { return reader_.written(); }

  [[nodiscard]] std::uint64_t overwritten() const { return overwritten_; }
  [[nodiscard]] std::uint64_t discarded() const { return discarded_; }
  [[nodiscard]] std::uint64_t corrupt() const { return reader_.corrupt() + implausible_; }

  // Gaps that it has not come to.
  [[nodiscard]] std::size_t gaps() const { return gaps_.size(); }

 private:
  // Events that were discarded, noticed when the ring had `at` records: they are missing before the record of that
  // number, or an earlier one: the first that ends behind the position `full`.
  struct Gap {
    std::uint64_t at;
    std::uint64_t full;
    std::uint64_t count;
  };
  static constexpr std::size_t kMostGaps = 1024;
  bool find_next();
  bool read();
  bool read_frozen();
  void note_discarded();
  void note_discarded(std::size_t turn, std::uint64_t seen, std::uint64_t written, std::uint64_t full);
  void take_gaps();
  [[nodiscard]] std::size_t index_of(const Gap& gap) const;
  void take_clock();
  [[nodiscard]] bool is_plausible(std::uint64_t count);

  ring::Reader reader_;
  std::uint32_t user_;
  arch::RawClock raw_clock_;
  std::uint64_t started_;
  std::uint64_t size_;
  const std::vector<ring::RecordView>* records_ = nullptr;
  const ring::Reader::Batch* batch_ = nullptr;
  // Records of earlier batches.
  std::uint64_t taken_ = 0;
  std::size_t batch_begin_ = 0;
  // The record that is next.
  std::size_t at_ = 0;
  // Records before this one are handed out without another look at gaps_.
  std::size_t stop_ = 0;
  // Number of the batch's first record, counted from the ring's beginning.
  std::uint64_t first_ = 0;
  std::uint64_t clock_;
  // When the batch was read.
  std::uint64_t newest_ = 0;
  std::uint64_t lost_ = 0;
  std::deque<Gap> gaps_;
  int reads_left_ = 0;
  // When nobody was writing.
  std::uint64_t settled_ = 0;

  std::shared_ptr<const Frozen> frozen_;
  std::size_t frozen_from_ = 0;
  bool in_frozen_ = false;  // records_ are frozen_'s

  std::uint64_t overwritten_ = 0;
  std::uint64_t discarded_ = 0;
  ring::Discarded discarded_seen_{};  // what the ring said last
  // The turn that give_back() began last, and the position that it began with.
  std::size_t turn_ = 0;
  std::uint64_t given_back_ = 0;
  // Behind this position nothing was written before that turn.
  std::uint64_t full_before_ = 0;
  std::uint64_t implausible_ = 0;
};

}  // namespace landtrace::buffer
