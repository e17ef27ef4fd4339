#include "fleet/memory_history.hpp"

#include <algorithm>
#include <set>

#include "fleet/frame_rows.hpp"
#include "fleet/row_key.hpp"
#include "fleet/subjects.hpp"
#include "fleet/where.hpp"

namespace landtrace::fleet {
namespace {

using Totals = SlotTables::Totals;

// Of memory, besides its two texts.
constexpr std::size_t kKeyCost = 128;

void append_varint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

std::uint64_t take_varint(const char*& at) {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return number;
  }
}

Totals difference(const Totals& a, const Totals& b) {
  return {a.hits - b.hits,
          a.dropped - b.dropped,
          {a.unpaired.starts - b.unpaired.starts, a.unpaired.ends - b.unpaired.ends,
           a.unpaired.lost - b.unpaired.lost}};
}

Totals sum(const Totals& a, const Totals& b) { return difference(a, difference({}, b)); }

// Rows by their places in an event's table of keys, ascending: how much further the place is, the hits, each value.
class RowsWriter {
 public:
  void add(std::uint32_t place, const std::uint64_t* numbers, std::size_t width) {
    append_varint(bytes_, place - last_);
    last_ = place;
    for (std::size_t i = 0; i < width; ++i) append_varint(bytes_, numbers[i]);
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
  std::uint32_t last_ = 0;
};

template <typename Take>
void for_each(const std::string& rows, std::size_t width, std::vector<std::uint64_t>& numbers, const Take& take) {
  numbers.resize(width);
  std::uint32_t place = 0;
  for (const char* at = rows.data(); at != rows.data() + rows.size();) {
    place += static_cast<std::uint32_t>(take_varint(at));
    for (std::size_t i = 0; i < width; ++i) numbers[i] = take_varint(at);
    take(place, numbers.data());
  }
}

}  // namespace

struct MemoryHistory::Identity {
  std::string host;
  std::string domain;
  std::string boot;
  std::uint64_t generation = 0;

  friend auto operator<=>(const Identity&, const Identity&) = default;
};

// What was counted in a minute.
struct MemoryHistory::Change {
  Minute minute = 0;
  Totals totals;
  std::string rows;
};

struct MemoryHistory::Series {
  std::string labels;
  std::uint64_t sequence = 0;
  Minute minute = 0;
  Totals totals;       // of the newest frame, but for those of its table before it is folded
  std::string newest;  // that is not folded; "": it is
  bool is_misfit = false;

  Totals folded;  // all that was counted by the last fold
  std::string rows;
  bool is_begun = false;
  // What was counted before the first frame that is known here: it has a minute, in which it was there.
  Change first;
  std::deque<Change> changes;
};

// Rows of numbers: hits and values, as wide as the event's.
struct MemoryHistory::Event {
  struct Total {
    Totals totals;
    std::vector<std::uint64_t> rows;  // by place
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::uint64_t number = 0;  // the first has the smallest
  ipc::HistogramTable shape;
  std::size_t width = 1;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> places;
  std::vector<std::pair<std::string, std::uint64_t>> keys;  // by place
  std::map<Identity, Series> series;
  std::map<Minute, Total> minutes;
  std::uint64_t oldest_ns = ~0ull;
  std::uint64_t newest_ns = 0;

  std::size_t key_bytes = 0;  // of `places` and `keys`, which go with the last of its histograms

  std::vector<std::uint64_t> scratch;  // by place
  std::vector<std::uint64_t> numbers;

  Result<std::uint32_t> place_of(std::string_view key) {
    const auto known = places.find(key);
    if (known != places.end()) return known->second;
    LT_TRY(const ipc::HistogramRow row, row_of_key(shape, key));
    const auto place = static_cast<std::uint32_t>(keys.size());
    keys.emplace_back(key_text(shape, row), step_of(shape, row));
    places.emplace(key, place);
    key_bytes += key.size() + keys.back().first.size() + kKeyCost + width * sizeof(std::uint64_t);
    scratch.resize(keys.size() * width);
    return place;
  }
  void add(std::vector<std::uint64_t>& to, std::uint32_t place, const std::uint64_t* row) const {
    if (to.size() < (place + 1) * width) to.resize(keys.size() * width);
    std::uint64_t* const sums = &to[place * width];
    sums[0] += row[0];
    for (std::size_t i = 1; i < width; ++i) {
      const ipc::HistogramValue& value = shape.values[i - 1];
      if (!value.is_kept) {
        sums[i] += row[i];
      } else if (sums[0] == row[0] || (value.is_signed ? static_cast<std::int64_t>(sums[i]) <
                                                             static_cast<std::int64_t>(row[i])
                                                       : sums[i] < row[i])) {
        sums[i] = row[i];
      }
    }
  }
};

MemoryHistory::MemoryHistory(std::size_t most_bytes) : most_bytes_(most_bytes) {}
MemoryHistory::~MemoryHistory() = default;

Result<void> MemoryHistory::add(const std::string& subject, std::string_view bytes, std::uint64_t now_ns) {
  LT_TRY(Frame head, decode_head(bytes));
  LT_CHECK(check_subject(subject, head));
  // The newest minutes go last: a host whose clock is ahead would keep its own for ever, and leave room for no others.
  if (head.time_ns > now_ns && head.time_ns - now_ns > kResolution_ns) head.time_ns = now_ns + kResolution_ns;
  LT_TRY(const RawTable table, table_of(bytes));
  Name name{head.order, head.event, table.shape};
  auto known = events_.find(name);
  if (known == events_.end()) {
    LT_TRY(Frame whole, decode_frame(bytes));
    auto made = std::make_unique<Event>();
    made->number = next_event_++;
    made->shape = std::move(whole.table);
    made->shape.rows.clear();
    made->width = 1 + made->shape.values.size();
    known = events_.emplace(std::move(name), std::move(made)).first;
  }
  Event* const event = known->second.get();
  Series& series = event->series[{head.host, head.domain, head.boot, head.generation}];
  if (head.sequence <= series.sequence) return {};
  const Minute minute = std::max(series.minute, head.time_ns / kResolution_ns);
  if (!series.newest.empty() && minute > series.minute) LT_CHECK(fold(*event, series));
  bytes_ += bytes.size() - series.newest.size();
  series.newest = bytes;
  series.minute = minute;
  series.labels = head.labels;
  series.totals.unpaired = head.unpaired;
  if (series.sequence == 0 && head.sequence > 1) series.first.minute = std::max<Minute>(minute, 1);
  series.sequence = head.sequence;
  event->oldest_ns = std::min(event->oldest_ns, head.time_ns);
  event->newest_ns = std::max(event->newest_ns, head.time_ns);
  if (folds_ > 0) {
    --folds_;
    LT_CHECK(fold(*event, series));
  }
  while (bytes_ > most_bytes_ && drop_oldest()) {
  }
  return {};
}

// The newest frame's counts less those of the last fold are of the newest frame's minute.
Result<void> MemoryHistory::fold(Event& event, Series& series) {
  if (series.newest.empty()) return {};
  const std::string frame = std::move(series.newest);
  series.newest.clear();
  bytes_ -= frame.size();
  series.is_misfit = true;  // unless all of it makes sense
  LT_TRY(const RawTable table, table_of(frame));
  series.totals.hits = table.hits;
  series.totals.dropped = table.dropped;

  const std::size_t keys = event.key_bytes;
  const Result<Rows> read = rows_of(event, frame);
  bytes_ += event.key_bytes - keys;
  LT_TRY(const Rows rows, read);
  series.is_misfit = false;
  Change change = change_of(event, series, rows);
  bytes_ -= series.rows.size();
  RowsWriter all;
  for (const auto& [place, at] : rows.order) all.add(place, &rows.numbers[at], event.width);
  series.rows = all.take();
  bytes_ += series.rows.size();
  series.folded = series.totals;
  keep(event, series, std::move(change));
  return {};
}

Result<MemoryHistory::Rows> MemoryHistory::rows_of(Event& event, std::string_view frame) {
  Rows rows;
  Result<void> good;
  const auto take = [&](const RawRow& row) {
    const auto place = event.place_of(row.key);
    if (!place) good = tl::unexpected<Error>(place.error());
    if (!place) return;
    rows.order.emplace_back(*place, rows.numbers.size());
    rows.numbers.push_back(row.hits);
    rows.numbers.insert(rows.numbers.end(), row.values.begin(), row.values.end());
  };
  LT_CHECK(for_each_row(frame, event.width - 1, take));
  LT_CHECK(good);
  if (!std::ranges::is_sorted(rows.order)) std::ranges::sort(rows.order);
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  if (std::ranges::adjacent_find(rows.order, same) != rows.order.end()) {
    return fail(EPROTO, "a frame with two rows of one key");
  }
  return rows;
}

MemoryHistory::Change MemoryHistory::change_of(Event& event, const Series& series, const Rows& rows) {
  const std::size_t width = event.width;
  for_each(series.rows, width, event.numbers, [&](std::uint32_t place, const std::uint64_t* row) {
    std::copy_n(row, width, &event.scratch[place * width]);
  });
  RowsWriter changed;
  event.numbers.resize(width);
  for (const auto& [place, at] : rows.order) {
    const std::uint64_t* const before = &event.scratch[place * width];
    if (rows.numbers[at] == before[0]) continue;
    for (std::size_t i = 0; i < width; ++i) {
      const bool is_kept = i > 0 && event.shape.values[i - 1].is_kept;
      event.numbers[i] = rows.numbers[at + i] - (is_kept ? 0 : before[i]);
    }
    changed.add(place, event.numbers.data(), width);
  }
  for_each(series.rows, width, event.numbers, [&](std::uint32_t place, const std::uint64_t*) {
    std::fill_n(&event.scratch[place * width], width, 0);
  });
  return {series.minute, difference(series.totals, series.folded), changed.take()};
}

void MemoryHistory::keep(Event& event, Series& series, Change change) {
  if (change.minute < reaches_) return;
  bytes_ += sizeof change + change.rows.size();
  if (!series.is_begun && series.first.minute != 0) {
    series.first = std::move(change);
    series.is_begun = true;
    return;
  }
  series.is_begun = true;
  Event::Total& total = event.minutes[change.minute];
  const std::size_t size = total.rows.size();
  total.totals = sum(total.totals, change.totals);
  for_each(change.rows, event.width, event.numbers,
           [&](std::uint32_t place, const std::uint64_t* row) { event.add(total.rows, place, row); });
  bytes_ += (total.rows.size() - size) * sizeof(std::uint64_t);
  series.changes.push_back(std::move(change));
}

// Of the minute of which something is known that is the longest ago, with the histograms that have nothing newer.
bool MemoryHistory::drop_oldest() {
  Minute oldest = ~0ull;
  for (const auto& [name, event] : events_) {
    for (const auto& [identity, series] : event->series) {
      oldest = std::min(oldest, series.changes.empty() ? series.minute : series.changes.front().minute);
    }
  }
  if (oldest == ~0ull) return false;
  const std::size_t before = bytes_;
  for (auto& [name, event] : events_) drop(*event, oldest);
  std::erase_if(events_, [&](const auto& one) {
    if (!one.second->series.empty()) return false;
    bytes_ -= one.second->key_bytes;
    return true;
  });
  dropped_bytes_ += before - bytes_;
  reaches_ = std::max(reaches_, oldest + 1);
  return true;
}

void MemoryHistory::drop(Event& event, Minute minute) {
  while (!event.minutes.empty() && event.minutes.begin()->first <= minute) {
    bytes_ -= event.minutes.begin()->second.rows.size() * sizeof(std::uint64_t);
    event.minutes.erase(event.minutes.begin());
  }
  const auto forget = [&](const Change& change) { bytes_ -= sizeof change + change.rows.size(); };
  for (auto at = event.series.begin(); at != event.series.end();) {
    Series& series = at->second;
    for (; !series.changes.empty() && series.changes.front().minute <= minute; series.changes.pop_front()) {
      forget(series.changes.front());
    }
    if (series.first.minute != 0 && series.is_begun && series.first.minute <= minute) {
      forget(series.first);
      series.first = {};
    }
    if (series.minute > minute) {
      ++at;
      continue;
    }
    bytes_ -= series.newest.size() + series.rows.size();
    at = event.series.erase(at);
  }
}

// Sums of one group of hosts, by slot and place.
class MemoryHistory::GroupSums {
 public:
  GroupSums(Event& event, SlotTables& tables, const Period& period)
      : event_(event), tables_(tables), period_(period), rows_(period.slots()) {}

  // 0: it is not in the period.
  [[nodiscard]] std::uint32_t slot_of(Minute minute) const {
    const std::uint32_t slot = period_.slot_of(minute * kResolution_ns);
    return slot > period_.slots() ? 0 : slot;
  }
  void add(const Change& change) {
    const std::uint32_t slot = slot_of(change.minute);
    if (slot == 0) return;
    tables_.add(slot, change.totals);
    for_each(change.rows, event_.width, event_.numbers,
             [&](std::uint32_t place, const std::uint64_t* row) { event_.add(rows_[slot - 1], place, row); });
  }
  void add(Minute minute, const Event::Total& total) {
    const std::uint32_t slot = slot_of(minute);
    if (slot == 0) return;
    tables_.add(slot, total.totals);
    for (std::size_t at = 0; at < total.rows.size(); at += event_.width) {
      if (total.rows[at] == 0) continue;
      event_.add(rows_[slot - 1], static_cast<std::uint32_t>(at / event_.width), &total.rows[at]);
    }
  }
  Result<void> finish(std::uint32_t group) {
    for (std::uint32_t slot = 1; slot <= rows_.size(); ++slot) {
      const std::vector<std::uint64_t>& rows = rows_[slot - 1];
      for (std::size_t at = 0; at < rows.size(); at += event_.width) {
        if (rows[at] == 0) continue;
        const auto& [key, step] = event_.keys[at / event_.width];
        LT_CHECK(tables_.add(slot, group, {key, step, rows[at], {&rows[at] + 1, event_.width - 1}}));
      }
    }
    return {};
  }

 private:
  Event& event_;
  SlotTables& tables_;
  const Period& period_;
  std::vector<std::vector<std::uint64_t>> rows_;
};

Result<void> MemoryHistory::answer_all(Event& event, const HistoryQuestion& question, SlotTables& tables,
                                       History& history) {
  GroupSums sums(event, tables, question.period);
  for (const auto& [minute, total] : event.minutes) sums.add(minute, total);
  for (const auto& [identity, series] : event.series) {
    if (adds_first(series, identity, question.period, history)) sums.add(series.first);
  }
  return sums.finish(tables.group({}));
}

Result<void> MemoryHistory::answer_some(Event& event, const HistoryQuestion& question, SlotTables& tables,
                                        History& history) {
  LT_TRY(const Where where, Where::parse(question.where));
  std::map<std::uint32_t, std::vector<std::pair<const Identity*, const Series*>>> groups;
  for (const auto& [identity, series] : event.series) {
    Labels labels = parse_labels(series.labels).value_or(Labels());
    labels[kHostLabel] = identity.host;
    labels[kDomainLabel] = identity.domain;
    if (series.is_misfit || !where.matches(labels)) continue;
    const std::uint32_t group =
        tables.group(group_of(identity.host, identity.domain, series.labels, question.per));
    groups[group].emplace_back(&identity, &series);
  }
  for (const auto& [group, members] : groups) {
    GroupSums sums(event, tables, question.period);
    for (const auto& [identity, series] : members) {
      for (const Change& change : series->changes) sums.add(change);
      if (adds_first(*series, *identity, question.period, history)) sums.add(series->first);
    }
    LT_CHECK(sums.finish(group));
  }
  return {};
}

// What was counted by a frame that came as the first one here, though it was not its host's: nobody knows when. It is
// in a period that has all of the histogram's time.
bool MemoryHistory::adds_first(const Series& series, const Identity& identity, const Period& period,
                               History& history) {
  if (series.first.minute == 0 || !series.is_begun) return false;
  if (identity.generation >= period.from_ns) return true;
  const std::uint32_t slot = period.slot_of(series.first.minute * kResolution_ns);
  if (slot > 0 && slot <= period.slots()) history.unclear += series.first.totals.hits;
  return false;
}

// Keys and values of one event that most hosts have.
MemoryHistory::Events::value_type MemoryHistory::most_of(const Events& events) {
  const auto hosts_of = [](const Event& event) {
    std::set<std::string_view> hosts;
    for (const auto& [identity, series] : event.series) {
      if (!series.is_misfit) hosts.insert(identity.host);
    }
    return hosts.size();
  };
  return *std::ranges::max_element(
      events, {}, [&](const Events::value_type& one) { return std::pair(hosts_of(*one.second), ~one.second->number); });
}

Result<void> MemoryHistory::answer(const Events& events, const HistoryQuestion& question, History& history) {
  for (const auto& [name, event] : events) {
    for (auto& [identity, series] : event->series) std::ignore = fold(*event, series);
  }
  const auto [name, most] = most_of(events);
  std::set<std::string> misfits(history.misfits.begin(), history.misfits.end());
  for (const auto& [other, event] : events) {
    for (const auto& [identity, series] : event->series) {
      if (series.is_misfit || event != most) misfits.insert(identity.host);
    }
  }
  history.misfits.assign(misfits.begin(), misfits.end());
  SlotTables tables(most->shape, question.per, question.period.slots());
  const bool is_of_all = question.per.empty() && question.where.empty();
  LT_CHECK(is_of_all ? answer_all(*most, question, tables, history) : answer_some(*most, question, tables, history));
  append_frames(history, name->order, name->event, question.period, tables);
  return {};
}

void MemoryHistory::tell_order(const Events& events, History& history) {
  std::set<std::string_view> hosts;
  const auto [name, most] = most_of(events);
  Frame& frame = history.frames.emplace_back();
  frame.order = name->order;
  frame.event = name->event;
  frame.generation = ~0ull;
  frame.table = most->shape;
  for (const auto& [other, event] : events) {
    for (const auto& [identity, series] : event->series) hosts.insert(identity.host);
    frame.generation = std::min(frame.generation, event->oldest_ns);
    frame.time_ns = std::max(frame.time_ns, event->newest_ns);
  }
  frame.host = std::to_string(hosts.size());
}

Result<History> MemoryHistory::answer(HistoryQuestion question) {
  LT_CHECK(Where::parse(question.where));
  Period& period = question.period;
  if (period.every_ns % kResolution_ns != 0) {
    return fail(EINVAL, "--every: a collector's memory has whole minutes alone; a store has all frames");
  }
  period.from_ns -= period.from_ns % kResolution_ns;
  if (!period.is_open) period.until_ns += (kResolution_ns - period.until_ns % kResolution_ns) % kResolution_ns;
  LT_CHECK(period.check());
  History history;
  history.source = "memory";
  history.resolution_ns = kResolution_ns;
  history.reaches_ns = reaches_ * kResolution_ns;
  history.dropped_bytes = dropped_bytes_;
  for (auto at = events_.begin(); at != events_.end();) {
    const Name& name = at->first;
    Events events;
    for (; at != events_.end() && at->first.order == name.order && at->first.event == name.event; ++at) {
      Event& event = *at->second;
      const bool is_in = event.newest_ns >= period.from_ns && (period.is_open || event.oldest_ns < period.until_ns);
      if (is_in) events.emplace_back(&at->first, &event);
    }
    if (events.empty() || (!question.order.empty() && name.order != question.order)) continue;
    if (question.order.empty()) {
      tell_order(events, history);
    } else {
      LT_CHECK(answer(events, question, history));
    }
  }
  return history;
}

}  // namespace landtrace::fleet
