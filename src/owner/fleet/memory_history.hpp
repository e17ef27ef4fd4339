// What was counted when, in a collector's memory: of each minute what each host's histograms counted in it, and what
// all of them did together. The oldest minutes go where there is no room.
//
// A frame is looked at when the next one of a later minute comes, or somebody asks: hosts may send more often than
// that.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fleet/history.hpp"
#include "fleet/slot_tables.hpp"

namespace landtrace::fleet {

class MemoryHistory {
 public:
  static constexpr std::uint64_t kResolution_ns = 60'000'000'000;

  explicit MemoryHistory(std::size_t most_bytes);
  ~MemoryHistory();
  MemoryHistory(const MemoryHistory&) = delete;
  MemoryHistory& operator=(const MemoryHistory&) = delete;

  // A frame of that subject, that came then: one that is of more than a minute later by its host's clock is of that
  // minute. EPROTO for one that makes no sense.
  Result<void> add(const std::string& subject, std::string_view bytes, std::uint64_t now_ns = ~0ull);
  // So many of the frames that come are looked at as they come, so that who asks waits less.
  void look_at(std::size_t frames) { folds_ = frames; }

  // EINVAL for an expression that makes no sense, and for parts of time that are no whole minutes.
  Result<History> answer(HistoryQuestion question);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Identity;
  struct Change;
  struct Series;
  struct Event;
  class GroupSums;
  using Minute = std::uint64_t;  // since 1970
  // Of a frame: places in the event's table of keys, and where in `numbers` the row's are.
  struct Rows {
    std::vector<std::pair<std::uint32_t, std::size_t>> order;
    std::vector<std::uint64_t> numbers;
  };

  Result<void> fold(Event& event, Series& series);
  static Result<Rows> rows_of(Event& event, std::string_view frame);
  static Change change_of(Event& event, const Series& series, const Rows& rows);
  void keep(Event& event, Series& series, Change change);
  bool drop_oldest();
  void drop(Event& event, Minute minute);
  // Of an order, an event of it, and the bytes of its histogram's keys and values.
  struct Name {
    std::string order;
    std::string event;
    std::string shape;

    friend auto operator<=>(const Name&, const Name&) = default;
  };
  using Events = std::vector<std::pair<const Name*, Event*>>;
  Result<void> answer(const Events& events, const HistoryQuestion& question, History& history);
  static void tell_order(const Events& events, History& history);
  static Events::value_type most_of(const Events& events);
  static Result<void> answer_all(Event& event, const HistoryQuestion& question, SlotTables& tables, History& history);
  static Result<void> answer_some(Event& event, const HistoryQuestion& question, SlotTables& tables,
                                  History& history);
  static bool adds_first(const Series& series, const Identity& identity, const Period& period, History& history);

  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::size_t dropped_bytes_ = 0;
  std::size_t folds_ = 0;
  std::uint64_t next_event_ = 0;
  Minute reaches_ = 0;  // what is of earlier ones was dropped
  std::map<Name, std::unique_ptr<Event>> events_;
};

}  // namespace landtrace::fleet
