// What a collector's memory answers.
#include <algorithm>
#include <set>
#include <tuple>

#include "fleet/memory_history_event.hpp"
#include "fleet/where.hpp"

namespace landtrace::fleet {

// Sums of one group of hosts: one slot after the other, as all of them by place could be large.
class MemoryHistory::GroupSums {
 public:
  GroupSums(Event& event, SlotTables& tables, const Period& period) : event_(event), tables_(tables), period_(period) {}

  void add(const Change& change) {
    if (has_slot(change.minute, change.totals)) rows_.emplace_back(slot_of(change.minute), &change.rows);
  }
  void add(Minute minute, const Total& total) {
    if (!has_slot(minute, total.totals)) return;
    for (const std::string& rows : total.rows) rows_.emplace_back(slot_of(minute), &rows);
  }
  Result<void> finish(std::uint32_t group) {
    std::ranges::stable_sort(rows_, {}, [](const auto& one) { return one.first; });
    for (auto at = rows_.begin(); at != rows_.end();) {
      const std::uint32_t slot = at->first;
      std::vector<std::uint32_t> places;
      for (; at != rows_.end() && at->first == slot; ++at) add_up(*at->second, places);
      LT_CHECK(tell(slot, group, places));
    }
    return {};
  }

 private:
  // 0: it is not in the period.
  [[nodiscard]] std::uint32_t slot_of(Minute minute) const {
    const std::uint32_t slot = period_.slot_of(minute * kResolution_ns);
    return slot > period_.slots() ? 0 : slot;
  }
  bool has_slot(Minute minute, const SlotTables::Totals& totals) {
    const std::uint32_t slot = slot_of(minute);
    if (slot != 0) tables_.add(slot, totals);
    return slot != 0;
  }
  // In the event's scratch. `places`: those that have something.
  void add_up(const std::string& rows, std::vector<std::uint32_t>& places) {
    PlacedRows::for_each(rows, event_.width, event_.numbers, [&](std::uint32_t place, const std::uint64_t* row) {
      std::uint64_t* const sums = &event_.scratch[place * event_.width];
      if (sums[0] == 0) places.push_back(place);
      event_.add(sums, row);
    });
  }
  Result<void> tell(std::uint32_t slot, std::uint32_t group, std::vector<std::uint32_t>& places) {
    Result<void> told;
    std::ranges::sort(places);
    for (const std::uint32_t place : places) {
      std::uint64_t* const sums = &event_.scratch[place * event_.width];
      const Event::Key& key = event_.keys[place];
      if (told && sums[0] != 0)
        told = tables_.add(slot, group, {key.text, key.step, sums[0], {sums + 1, event_.width - 1}});
      std::fill_n(sums, event_.width, 0);
    }
    return told;
  }

  Event& event_;
  SlotTables& tables_;
  const Period& period_;
  std::vector<std::pair<std::uint32_t, const std::string*>> rows_;  // by slot
};

Result<void> MemoryHistory::answer_all(Event& event, const HistoryQuestion& question, SlotTables& tables,
                                       History& history) {
  GroupSums sums(event, tables, question.period);
  for (const auto& [minute, total] : event.minutes) sums.add(minute, total);
  for (const auto& [identity, series] : event.series) {
    if (adds_first(series, identity, question.period, history)) sums.add(*series.first);
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
    const std::uint32_t group = tables.group(group_of(identity.host, identity.domain, series.labels, question.per));
    groups[group].emplace_back(&identity, &series);
  }
  for (const auto& [group, members] : groups) {
    GroupSums sums(event, tables, question.period);
    for (const auto& [identity, series] : members) {
      for (const Change& change : series->changes) sums.add(change);
      if (adds_first(*series, *identity, question.period, history)) sums.add(*series->first);
    }
    LT_CHECK(sums.finish(group));
  }
  return {};
}

// What was counted by a frame that came as the first one here, though it was not its host's: nobody knows when. It is
// in a period that has all of the histogram's time.
bool MemoryHistory::adds_first(const Series& series, const Identity& identity, const Period& period, History& history) {
  if (!series.first) return false;
  if (identity.generation >= period.from_ns) return true;
  const std::uint32_t slot = period.slot_of(series.first->minute * kResolution_ns);
  if (slot > 0 && slot <= period.slots()) history.unclear += series.first->totals.hits;
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
  return *std::ranges::max_element(events, {}, [&](const Events::value_type& one) {
    return std::tuple(!one.second->shape.keys.empty(), hosts_of(*one.second), ~one.second->number);
  });
}

Result<void> MemoryHistory::answer(const Events& events, const HistoryQuestion& question, History& history) {
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

MemoryHistory::Minute MemoryHistory::Host::reach_of(const std::string& order) const {
  Minute latest = reaches;
  for (const auto& [name, reach] : left_out) {
    if (order.empty() || order == name) latest = std::max(latest, reach);
  }
  return latest;
}

// What is of before has no host of which all of it is there. Those that have less than the others are named.
void MemoryHistory::tell_reach(const HistoryQuestion& question, History& history) const {
  Minute common = hosts_.empty() ? 0 : ~0ull;
  for (const auto& [name, host] : hosts_) common = std::min(common, host.reach_of(question.order));
  common = std::max(common, reaches_);
  for (const auto& [order, reach] : left_out_) {
    if (question.order.empty() || question.order == order) common = std::max(common, reach);
  }
  history.reaches_ns = common * kResolution_ns;
  const Minute told = std::max<Minute>(common, question.period.from_ns / kResolution_ns);
  for (const auto& [name, host] : hosts_) {
    if (host.reach_of(question.order) > told) history.no_room.push_back(name);
  }
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
  for (auto& [name, event] : events_) {
    if (name.order != question.order) continue;
    for (auto& [identity, series] : event->series) std::ignore = fold(*event, series);
  }
  make_room();
  History history;
  history.source = "memory";
  history.resolution_ns = kResolution_ns;
  history.dropped_bytes = dropped_bytes_;
  tell_reach(question, history);
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
