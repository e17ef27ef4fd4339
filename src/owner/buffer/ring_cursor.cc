#include "buffer/ring_cursor.hpp"

#include <algorithm>

#include "buffer/plausible.hpp"

namespace landtrace::buffer {

RingCursor::RingCursor(const std::byte* ring, ring::Geometry geometry, std::uint32_t user, arch::RawClock raw_clock,
                       std::uint64_t started)
    : reader_(ring, geometry),
      user_(user),
      raw_clock_(raw_clock),
      started_(started),
      size_(geometry.size()),
      clock_(started) {
  if (is_plausible(reader_.lost())) overwritten_ = lost_ = first_ = reader_.lost();
}

RingCursor::RingCursor(const std::byte* ring, ring::Geometry geometry, std::uint32_t user, arch::RawClock raw_clock,
                       std::uint64_t started, Begin begin)
    : reader_(ring, geometry, begin.from.live),
      user_(user),
      raw_clock_(raw_clock),
      started_(started),
      size_(geometry.size()),
      first_(begin.from.live.count),
      clock_(started),
      frozen_(std::move(begin.frozen)),
      frozen_from_(begin.from.frozen),
      discarded_seen_(begin.discarded),
      turn_((begin.consumed & ring::kOddTurn) != 0 ? 1 : 0),
      given_back_(begin.consumed & ~ring::kOddTurn) {
  reader_.stop_at(begin.end);
}

Place RingCursor::place() const {
  if (in_frozen_ && at_ < records_->size()) return {at_, reader_.place()};
  if (frozen_ && !in_frozen_ && frozen_from_ < frozen_->records().size()) return {frozen_from_, reader_.place()};
  const std::size_t all = frozen_ ? frozen_->records().size() : 0;
  if (in_frozen_ || records_ == nullptr || at_ >= records_->size()) return {all, reader_.place()};
  return {all, batch_->place_of(at_)};
}

// A ring that has told of more than there can have been is not asked again: it was made up, or is damaged.
bool RingCursor::is_plausible(std::uint64_t count) {
  const std::uint64_t known = overwritten_ + discarded_;
  const bool is_sum = count <= ~known;
  if (implausible_ == 0 && is_sum && can_have_happened(known + count, started_, arch::read_raw_clock(raw_clock_))) {
    return true;
  }
  ++implausible_;
  return false;
}

void RingCursor::take_clock() { clock_ = std::clamp((*records_)[at_].header.clock, clock_, std::max(clock_, newest_)); }

// Whoever takes the ring after this look reads the clock after it.
std::uint64_t RingCursor::settled(std::uint64_t now) {
  if (!reader_.is_claimed()) return settled_ = now;
  return std::max(settled_, now - std::min(now, kPatience));
}

bool RingCursor::find_next() {
  const bool at_gap = records_ != nullptr && at_ < records_->size();
  if (!at_gap && !read()) return false;
  take_gaps();
  take_clock();
  return true;
}

// The next batch. A batch without records may still say that records were lost: a reader that was lapped goes on at
// the oldest mark that is intact, and what it was overtaken by is in lost_before.
bool RingCursor::read() {
  if (reads_left_ == 0) return false;
  taken_ += at_ - std::exchange(batch_begin_, at_);
  if (frozen_ && frozen_from_ < frozen_->records().size()) return read_frozen();
  if (records_ != nullptr && !in_frozen_) first_ += records_->size();
  in_frozen_ = false;
  const ring::Reader::Batch& batch = reader_.read();
  // Behind the reading: what a writer discarded before it wrote one of these is counted by now.
  note_discarded();
  newest_ = arch::read_raw_clock(raw_clock_);
  batch_ = &batch;
  records_ = &batch.records;
  at_ = stop_ = batch_begin_ = 0;
  if (batch.lost_before > 0 && is_plausible(batch.lost_before)) {
    lost_ += batch.lost_before;
    overwritten_ += batch.lost_before;
    first_ += batch.lost_before;
  }
  if (batch.records.empty()) return false;
  --reads_left_;
  return true;
}

bool RingCursor::read_frozen() {
  newest_ = arch::read_raw_clock(raw_clock_);
  records_ = &frozen_->records();
  at_ = batch_begin_ = std::exchange(frozen_from_, records_->size());
  stop_ = records_->size();
  in_frozen_ = true;
  --reads_left_;
  return true;
}

// The order matters: first the figures of discarded events, then the number of records. Whatever was discarded by then
// came before the next record to be written. What was discarded in the turn before, and is noticed now that there is
// room again, came before the first record for which that turn had no room. Older turns have been noted: give_back().
void RingCursor::note_discarded() {
  const ring::Discarded seen = reader_.discarded();
  const std::uint64_t written = reader_.written();
  note_discarded(turn_ ^ 1, seen.in_turn[turn_ ^ 1], written, full_before_);
  note_discarded(turn_, seen.in_turn[turn_], written, ~0ull);
}

void RingCursor::note_discarded(std::size_t turn, std::uint64_t seen, std::uint64_t written, std::uint64_t full) {
  const std::uint64_t count = seen - discarded_seen_.in_turn[turn];
  discarded_seen_.in_turn[turn] = seen;
  if (count == 0 || !is_plausible(count)) return;
  discarded_ += count;
  // A writer that lies about how many records there are has gaps that nobody ever comes to.
  if (!gaps_.empty() && ((gaps_.back().at == written && gaps_.back().full == full) || gaps_.size() >= kMostGaps)) {
    gaps_.back().count += count;
  } else {
    gaps_.push_back({written, full, count});
  }
}

std::uint64_t RingCursor::give_back(std::uint64_t position) {
  note_discarded();
  full_before_ = given_back_ + size_;
  given_back_ = position;
  turn_ ^= 1;
  return position | (turn_ == 0 ? 0 : ring::kOddTurn);
}

// Which record of the batch the gap lies before.
std::size_t RingCursor::index_of(const Gap& gap) const {
  const auto ends_before = [&](const ring::RecordView& record) {
    const auto index = static_cast<std::size_t>(&record - records_->data());
    return batch_->place_of(index).position + ring::record_length(record.payload.size()) <= gap.full;
  };
  const auto first = std::partition_point(records_->begin(), records_->end(), ends_before);
  const auto by_position = static_cast<std::size_t>(first - records_->begin());
  return gap.at <= first_ ? 0 : std::min<std::uint64_t>(gap.at - first_, by_position);
}

// Takes the gaps that lie before the current record. stop_ is then the record before which the next gap lies.
void RingCursor::take_gaps() {
  stop_ = records_->size();
  if (in_frozen_) return;
  for (; !gaps_.empty(); gaps_.pop_front()) {
    const std::size_t index = index_of(gaps_.front());
    if (index > at_) {
      stop_ = std::min(stop_, index);
      return;
    }
    lost_ += gaps_.front().count;
  }
}

std::uint64_t RingCursor::take_rest() {
  note_discarded();
  for (const Gap& gap : gaps_) lost_ += gap.count;
  gaps_.clear();
  return take_lost();
}

std::uint64_t RingCursor::passed() const { return first_ + (in_frozen_ || records_ == nullptr ? 0 : at_); }

std::uint64_t RingCursor::unread() const {
  const std::uint64_t written = reader_.written();
  return written > passed() ? std::min(written - passed(), size_ / arch::kRecordHeader) : 0;
}

std::uint64_t RingCursor::untold() {
  note_discarded();
  std::uint64_t count = lost_;
  for (const Gap& gap : gaps_) count += gap.count;
  return count;
}

}  // namespace landtrace::buffer
