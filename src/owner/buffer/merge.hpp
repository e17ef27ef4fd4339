// The records of several rings, merged by time. The reader takes one at a time, when it likes. (Stream, for
// recorders, hands out all that the rings have.)
//
// Each ring is in order of time; between rings the oldest record comes first. A ring that has no record in begin() is
// left out, although it may get one while the others are read: `horizon` keeps these from running ahead of it. next()
// stays with one ring until another one has an older record: records of one CPU mostly come in runs, and so need no
// search.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "buffer/ring_cursor.hpp"

namespace landtrace::buffer {

class Merge {
 public:
  struct Source {
    RingCursor* cursor;
    std::uint32_t cpu;
  };

  void clear() {
    sources_.clear();
    live_.clear();
    current_ = nullptr;
  }
  // The cursor must stay where it is.
  void add(Source source) { sources_.push_back(source); }
  [[nodiscard]] const std::vector<Source>& sources() const { return sources_; }

  // Looks at what the rings hold. `horizon` is a raw time from before the call. Records newer than that are left for
  // the next time: a ring that was looked at earlier may have got an older one since.
  void begin(std::uint64_t horizon) {
    live_.clear();
    current_ = nullptr;
    // Nor is anything handed out that is newer than a record that is being written.
    if (horizon != kNever) horizon = settle(horizon);
    for (const Source& source : sources_) {
      source.cursor->allow_reads(std::numeric_limits<int>::max());
      if (source.cursor->ready()) live_.push_back(source);
    }
    horizon_ = horizon;
  }

  // The ring with the oldest record, which the caller pops; nullptr: there is no record up to the horizon.
  const Source* next() {
    if (current_ != nullptr) {
      if (!current_->cursor->ready()) {
        live_.erase(live_.begin() + (current_ - live_.data()));
      } else if (current_->cursor->clock() <= until_) {
        return current_;
      }
    }
    return choose();
  }

 private:
  static constexpr std::uint64_t kNever = ~0ull;

  [[nodiscard]] std::uint64_t settle(std::uint64_t now) const {
    std::uint64_t horizon = now;
    for (const Source& source : sources_) horizon = std::min(horizon, source.cursor->settled(now));
    return horizon;
  }

  const Source* choose() {
    current_ = nullptr;
    std::uint64_t best = kNever;
    until_ = horizon_;
    for (const Source& source : live_) {
      const std::uint64_t clock = source.cursor->clock();
      if (current_ == nullptr || clock < best) {
        if (current_ != nullptr) until_ = std::min(until_, best);
        best = clock;
        current_ = &source;
      } else {
        until_ = std::min(until_, clock);
      }
    }
    if (current_ != nullptr && best > horizon_) current_ = nullptr;
    return current_;
  }

  std::vector<Source> sources_;
  std::vector<Source> live_;
  const Source* current_ = nullptr;
  std::uint64_t until_ = 0;  // up to here no other ring has an older record
  std::uint64_t horizon_ = kNever;
};

}  // namespace landtrace::buffer
