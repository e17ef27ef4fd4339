// The events of one CPU: the rings that the domain's users have for it, and those that writers have claimed for it,
// merged by time.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "buffer/ring_cursor.hpp"

namespace landtrace::buffer {

inline constexpr std::uint64_t kNoHorizon = ~0ull;

class Stream {
 public:
  template <typename... Args>
  void add(Args&&... args) {
    cursors_.emplace_back(std::forward<Args>(args)...);
  }

  // Calls visit(cursor) for each record, in order of time, with at most `reads` reads of each ring. `horizon` is a
  // raw time from before the call. Records newer than that are left for the next call: a ring that was looked at
  // earlier, be it the first time that it has any, may have got an older one since. The same goes for records that are
  // newer than one that is being written. True if a ring was left because it had been read so often.
  template <typename Visit>
  bool drain(std::uint64_t horizon, int reads, Visit&& visit) {
    if (horizon != kNoHorizon) horizon = settle(horizon);
    settled_ = horizon;
    find_live(reads);
    while (!live_.empty()) {
      const auto best = std::min_element(live_.begin(), live_.end(),
                                         [](const auto* a, const auto* b) { return a->clock() < b->clock(); });
      RingCursor& cursor = **best;
      if (cursor.clock() > horizon) break;
      std::uint64_t until = horizon;
      for (const RingCursor* other : live_) {
        if (other != &cursor) until = std::min(until, other->clock());
      }
      bool ready = true;
      while (ready && cursor.clock() <= until) {
        visit(cursor);
        cursor.pop();
        ready = cursor.ready();
      }
      if (ready) continue;
      // What this ring has not read yet is not older than its last record, so the others stop there, too.
      if (cursor.out_of_reads()) horizon = std::min(horizon, cursor.clock());
      live_.erase(best);
    }
    return std::any_of(cursors_.begin(), cursors_.end(), [](const auto& c) { return c.out_of_reads(); });
  }

  [[nodiscard]] std::deque<RingCursor>& cursors() { return cursors_; }
  [[nodiscard]] const std::deque<RingCursor>& cursors() const { return cursors_; }

  // The horizon that the last drain() kept to: no older record comes any more.
  [[nodiscard]] std::uint64_t settled() const { return settled_; }

 private:
  std::uint64_t settle(std::uint64_t now) {
    std::uint64_t horizon = now;
    for (RingCursor& cursor : cursors_) horizon = std::min(horizon, cursor.settled(now));
    return horizon;
  }
  void find_live(int reads) {
    live_.clear();
    for (RingCursor& cursor : cursors_) {
      cursor.allow_reads(reads);
      if (cursor.ready()) live_.push_back(&cursor);
    }
  }

  std::deque<RingCursor> cursors_;
  std::vector<RingCursor*> live_;
  std::uint64_t settled_ = 0;
};

}  // namespace landtrace::buffer
