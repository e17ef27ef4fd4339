#include "fleet/memory_history.hpp"

#include <algorithm>
#include <utility>

#include "fleet/memory_history_event.hpp"
#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

using Totals = SlotTables::Totals;

// Of memory, besides texts and rows.
constexpr std::size_t kEventCost = 1024;
constexpr std::size_t kSeriesCost = 1200;
constexpr std::size_t kKeyCost = 128;

Totals difference(const Totals& a, const Totals& b) {
  return {
      a.hits - b.hits,
      a.dropped - b.dropped,
      {a.unpaired.starts - b.unpaired.starts, a.unpaired.ends - b.unpaired.ends, a.unpaired.lost - b.unpaired.lost}};
}

Totals sum(const Totals& a, const Totals& b) { return difference(a, difference({}, b)); }

}  // namespace

Result<std::uint32_t> MemoryHistory::Event::place_of(std::string_view key, Host& host) {
  if (const auto known = places.find(key); known != places.end()) {
    Key& one = keys[known->second];
    if (one.owner != nullptr && one.owner != &host) {
      one.owner->bytes -= one.cost;
      one.owner = nullptr;
    }
    return known->second;
  }
  LT_TRY(const ipc::HistogramRow row, row_of_key(shape, key));
  const auto place = static_cast<std::uint32_t>(keys.size());
  std::string text = key_text(shape, row);
  const std::size_t bytes = key.size() + text.size() + kKeyCost + width * sizeof(std::uint64_t);
  keys.push_back({std::move(text), step_of(shape, row), bytes, &host});
  places.emplace(key, place);
  key_bytes += bytes;
  host.bytes += bytes;
  scratch.resize(keys.size() * width);
  return place;
}

void MemoryHistory::Event::add(std::uint64_t* to, const std::uint64_t* row) const {
  const bool is_first = to[0] == 0;
  to[0] += row[0];
  for (std::size_t i = 1; i < width; ++i) {
    const ipc::HistogramValue& value = shape.values[i - 1];
    if (!value.is_kept) {
      to[i] += row[i];
    } else if (is_first || (value.is_signed ? static_cast<std::int64_t>(to[i]) < static_cast<std::int64_t>(row[i])
                                            : to[i] < row[i])) {
      to[i] = row[i];
    }
  }
}

std::string MemoryHistory::Event::merged(const std::string& a, const std::string& b) const {
  std::vector<std::uint64_t> a_row, b_row;
  PlacedRows::Cursor in_a(a, width, a_row), in_b(b, width, b_row);
  PlacedRows all;
  bool has_a = in_a.next(), has_b = in_b.next();
  while (has_a || has_b) {
    const bool takes_a = has_a && (!has_b || in_a.place() <= in_b.place());
    const bool takes_b = has_b && (!has_a || in_b.place() <= in_a.place());
    if (takes_a && takes_b) add(a_row.data(), b_row.data());
    all.add(takes_a ? in_a.place() : in_b.place(), takes_a ? a_row.data() : b_row.data(), width);
    if (takes_a) has_a = in_a.next();
    if (takes_b) has_b = in_b.next();
  }
  return all.take();
}

void MemoryHistory::Event::add(Total& total, const std::string& rows) {
  std::string added = rows;
  for (; !total.rows.empty() && total.rows.back().size() <= 2 * added.size(); total.rows.pop_back()) {
    added = merged(total.rows.back(), added);
  }
  total.rows.push_back(std::move(added));
}

std::size_t MemoryHistory::Total::bytes() const {
  constexpr std::size_t kMinuteCost = 128, kStringCost = 48;
  std::size_t bytes = kMinuteCost;
  for (const std::string& some : rows) bytes += kStringCost + some.size();
  return bytes;
}

MemoryHistory::MemoryHistory(std::size_t most_bytes) : most_bytes_(most_bytes) {}
MemoryHistory::~MemoryHistory() = default;

Result<void> MemoryHistory::add(const std::string& subject, std::string_view bytes, std::uint64_t now_ns) {
  now_ = now_ns / kResolution_ns;
  const Result<void> taken = take(subject, bytes, now_ns);
  make_room();
  return taken;
}

Result<void> MemoryHistory::take(const std::string& subject, std::string_view bytes, std::uint64_t now_ns) {
  LT_TRY(Frame head, decode_head(bytes));
  LT_CHECK(check_subject(subject, head));
  if (head.sequence == 0) return fail(EPROTO, "a frame without a sequence");
  // The newest minutes go last: a host whose clock is ahead would keep its own for ever, and leave room for no others.
  if (head.time_ns > now_ns && head.time_ns - now_ns > kResolution_ns) head.time_ns = now_ns + kResolution_ns;
  LT_TRY(RawTable table, table_of(bytes));
  if (head.is_last && table.shape.empty()) return {};  // it has gone: what it counted stays where it was counted
  LT_TRY(Event* const event, event_of(head, std::move(table.shape), bytes));
  Series& series = series_of(*event, head);
  if (head.sequence <= series.sequence) return {};
  const Minute minute = std::max(series.minute, head.time_ns / kResolution_ns);
  // One that makes no sense says nothing of the next.
  if (minute > series.minute) std::ignore = fold(*event, series);
  charge(*series.host, bytes.size() + head.labels.size() - series.newest.size() - series.labels.size());
  // A text that was longer would keep its room.
  series.newest = std::string(bytes);
  series.labels = std::string(head.labels);
  series.minute = minute;
  series.totals.unpaired = head.unpaired;
  if (series.sequence == 0) series.begins_late = head.sequence > 1;
  series.sequence = head.sequence;
  event->oldest_ns = std::min(event->oldest_ns, head.time_ns);
  event->newest_ns = std::max(event->newest_ns, std::min(head.time_ns, now_ns));
  if (folds_ > 0) {
    --folds_;
    LT_CHECK(fold(*event, series));
  }
  return {};
}

// What is kept of a histogram's names is the host's that came first, until another one has it, too.
Result<MemoryHistory::Event*> MemoryHistory::event_of(const Frame& head, std::string shape, std::string_view bytes) {
  Name name{head.order, head.event, std::move(shape)};
  const auto known = events_.find(name);
  if (known != events_.end()) {
    Event& event = *known->second;
    Host& host = host_of(head.host);
    if (event.owner != nullptr && event.owner != &host) {
      event.owner->bytes -= event.cost;
      event.owner = nullptr;
      for (auto& [minute, total] : event.minutes) charge(event, total);
    }
    return &event;
  }
  LT_TRY(Frame whole, decode_frame(bytes));
  auto event = std::make_unique<Event>();
  event->number = next_event_++;
  event->shape = std::move(whole.table);
  event->shape.rows = {};
  event->width = 1 + event->shape.values.size();
  event->cost = kEventCost + name.order.size() + name.event.size() + 2 * name.shape.size() +
                event->shape.trigger.size() + event->shape.keys.size() * sizeof(ipc::HistogramKey) +
                event->shape.values.size() * sizeof(ipc::HistogramValue);
  event->owner = &host_of(head.host);
  charge(*event->owner, event->cost);
  return events_.emplace(std::move(name), std::move(event)).first->second.get();
}

MemoryHistory::Series& MemoryHistory::series_of(Event& event, const Frame& head) {
  const auto [at, is_new] = event.series.try_emplace({head.host, head.domain, head.boot, head.generation});
  Series& series = at->second;
  if (!is_new) return series;
  series.host = &host_of(head.host);
  series.cost = kSeriesCost + head.host.size() + head.domain.size() + head.boot.size();
  charge(*series.host, series.cost);
  return series;
}

// The newest frame's counts less those of the last fold are of the newest frame's minute.
Result<void> MemoryHistory::fold(Event& event, Series& series) {
  if (series.newest.empty()) return {};
  const std::string frame = std::move(series.newest);
  series.newest.clear();
  charge(*series.host, 0 - frame.size());
  series.is_misfit = true;  // unless all of it makes sense
  LT_TRY(const RawTable table, table_of(frame));
  series.totals.hits = table.hits;
  series.totals.dropped = table.dropped;

  const std::size_t keys = event.key_bytes;
  const Result<Rows> read = rows_of(event, *series.host, frame);
  bytes_ += event.key_bytes - keys;
  LT_TRY(const Rows rows, read);
  series.is_misfit = false;
  Change change = change_of(event, series, rows);
  PlacedRows all;
  for (const auto& [place, at] : rows.order) all.add(place, &rows.numbers[at], event.width);
  const std::size_t before = series.rows.size();
  series.rows = all.take();
  charge(*series.host, series.rows.size() - before);
  series.folded = series.totals;
  keep(event, series, std::move(change));
  return {};
}

Result<MemoryHistory::Rows> MemoryHistory::rows_of(Event& event, Host& host, std::string_view frame) {
  const std::size_t most = kMostCells / (event.shape.keys.size() + event.width);
  Rows rows;
  Result<void> good;
  const auto take = [&](const RawRow& row) {
    if (!good) return;
    if (rows.order.size() == most) good = fail(EPROTO, "a frame of more rows than a host's may have");
    if (!good) return;
    const auto place = event.place_of(row.key, host);
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
  PlacedRows::for_each(series.rows, width, event.numbers, [&](std::uint32_t place, const std::uint64_t* row) {
    std::copy_n(row, width, &event.scratch[place * width]);
  });
  PlacedRows changed;
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
  PlacedRows::for_each(series.rows, width, event.numbers, [&](std::uint32_t place, const std::uint64_t*) {
    std::fill_n(&event.scratch[place * width], width, 0);
  });
  return {series.minute, difference(series.totals, series.folded), changed.take()};
}

void MemoryHistory::keep(Event& event, Series& series, Change change) {
  const bool is_first = std::exchange(series.begins_late, false);
  if (change.minute < reaches_) return;
  charge(*series.host, change.bytes());
  if (is_first) {
    series.first = std::move(change);
    return;
  }
  series.changes.push_back(std::move(change));
  add_to_total(event, series.changes.back());
}

void MemoryHistory::add_to_total(Event& event, const Change& change) {
  Total& total = event.minutes[change.minute];
  total.totals = sum(total.totals, change.totals);
  event.add(total, change.rows);
  charge(event, total);
}

// The sum is nobody's: who counts first in a minute would have the room of all. But of an event that one host alone has
// it is that one's.
void MemoryHistory::charge(const Event& event, Total& total) {
  if (total.owner != nullptr) total.owner->bytes -= total.cost;
  bytes_ -= total.cost;
  total.owner = event.owner;
  total.cost = total.bytes();
  bytes_ += total.cost;
  if (total.owner != nullptr) total.owner->bytes += total.cost;
}

}  // namespace landtrace::fleet
