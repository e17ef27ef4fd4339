// The records of several rings, merged by time, one at a time at the reader's pace. (Stream hands them out at the
// rings' pace.)
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

  // Looks for what the rings hold. Where several are in use, records newer than `horizon` (a raw time from before the
  // call) stay for the next time: an older one may yet come from a ring that was looked at earlier.
  void begin(std::uint64_t horizon) {
    live_.clear();
    current_ = nullptr;
    std::size_t used = 0;
    for (const Source& source : sources_) {
      source.cursor->allow_reads(std::numeric_limits<int>::max());
      if (source.cursor->ready()) live_.push_back(source);
      if (source.cursor->is_used()) ++used;
    }
    horizon_ = used < 2 ? kNever : horizon;
  }

  // Whose record is the oldest that stands ready; nullptr: there is none. To be popped by the caller.
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
  std::uint64_t until_ = 0;  // the current one serves up to here
  std::uint64_t horizon_ = kNever;
};

}  // namespace landtrace::buffer
