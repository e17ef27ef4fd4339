// What was counted when, in a collector's memory: of each minute what each host's histograms counted in it, and what
// all of them did together.
//
// Where there is no room the oldest minutes go. But who takes the room of others loses it: a host that alone has more
// than a quarter of it loses minutes of its own; and where keys and newest counts, which are no minute's, have more
// than three quarters, the order that has most of them is left out.
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
  struct Host;
  struct Identity;
  struct Change;
  struct Series;
  struct Total;
  struct Event;
  class GroupSums;
  using Minute = std::uint64_t;  // since 1970
  // Of a frame: places in the event's table of keys, and where in `numbers` the row's are.
  struct Rows {
    std::vector<std::pair<std::uint32_t, std::size_t>> order;
    std::vector<std::uint64_t> numbers;
  };

  Result<void> take(const std::string& subject, std::string_view bytes, std::uint64_t now_ns);
  Result<Event*> event_of(const Frame& head, std::string shape, std::string_view bytes);
  Series& series_of(Event& event, const Frame& head);
  Result<void> fold(Event& event, Series& series);
  static Result<Rows> rows_of(Event& event, Host& host, std::string_view frame);
  static Change change_of(Event& event, const Series& series, const Rows& rows);
  void keep(Event& event, Series& series, Change change);
  void add_to_total(Event& event, const Change& change);

  // Of an order, an event of it, and the bytes of its histogram's keys and values.
  struct Name {
    std::string order;
    std::string event;
    std::string shape;

    friend auto operator<=>(const Name&, const Name&) = default;
  };
  using EventsByName = std::map<Name, std::unique_ptr<Event>>;
  // What one event takes that a drop may free.
  struct Taken {
    EventsByName::iterator event;
    std::size_t standing = 0;  // what no minute has
    std::size_t all = 0;
    Minute newest = 0;
  };

  struct Taking {
    std::vector<Taken> events;
    std::size_t standing = 0;
    std::map<Minute, std::size_t> minutes;  // what goes with each

    [[nodiscard]] Minute last_for(std::size_t wanted, Minute now) const;
  };

  Host& host_of(const std::string& name);
  // So many bytes more, that are this host's alone; fewer: as their negative.
  void charge(Host& host, std::size_t bytes);
  // What the sum takes now, to who has the event.
  void charge(const Event& event, Total& total);
  void make_room();
  // So many bytes, or more or fewer. `of`: what is this host's; nullptr: of all hosts. False, of these: there is less
  // than before of nothing.
  bool drop_some(Host* of, std::size_t wanted);
  Taking what_is_taken(const Host* of);
  void leave_out(const Taken& event, Host* of);
  void limit_left_out(Host* of);
  bool drop(Event& event, Minute minute, const Host* of);
  void forget_minutes(Event& event, Minute first, Minute last);
  void add_up(Event& event, Minute first, Minute last);
  bool drop_keys(Event& event, bool are_all);
  void forget_empty();
  bool forget_names();

  using Events = std::vector<std::pair<const Name*, Event*>>;
  void tell_reach(const HistoryQuestion& question, History& history) const;
  Result<void> answer(const Events& events, const HistoryQuestion& question, History& history);
  static void tell_order(const Events& events, History& history);
  static Events::value_type most_of(const Events& events);
  static Result<void> answer_all(Event& event, const HistoryQuestion& question, SlotTables& tables, History& history);
  static Result<void> answer_some(Event& event, const HistoryQuestion& question, SlotTables& tables, History& history);
  static bool adds_first(const Series& series, const Identity& identity, const Period& period, History& history);

  const std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::size_t dropped_bytes_ = 0;
  std::size_t folds_ = 0;
  std::uint64_t next_event_ = 0;
  Minute now_ = 0;
  Minute reaches_ = 0;                      // what is of earlier ones was dropped
  std::map<std::string, Minute> left_out_;  // … and of these orders
  EventsByName events_;
  std::map<std::string, Host> hosts_;
};

}  // namespace landtrace::fleet
