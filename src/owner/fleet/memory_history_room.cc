// What a collector's memory takes, and what goes where there is no more of it.
#include <algorithm>
#include <functional>
#include <limits>
#include <unordered_map>

#include "fleet/memory_history_event.hpp"

namespace landtrace::fleet {
namespace {

// Of memory, besides texts.
constexpr std::size_t kHostCost = 256;
constexpr std::size_t kLeftOutCost = 128;
// Orders that are left out, of a host and of all: of more, all that was counted before counts as dropped.
constexpr std::size_t kMostLeftOut = 64;

}  // namespace

MemoryHistory::Host& MemoryHistory::host_of(const std::string& name) {
  const auto [at, is_new] = hosts_.try_emplace(name);
  Host& host = at->second;
  if (!is_new) return host;
  host.own = kHostCost + name.size();
  charge(host, host.own);
  return host;
}

void MemoryHistory::charge(Host& host, std::size_t bytes) {
  bytes_ += bytes;
  host.bytes += bytes;
}

// What there is too much is looked for in all that there is: so more of it goes than has to, and the next look is far.
void MemoryHistory::make_room() {
  const std::size_t share = most_bytes_ / 4, spare = most_bytes_ / 16;
  while (bytes_ > most_bytes_) {
    const std::size_t before = bytes_;
    const auto heaviest = std::ranges::max_element(hosts_, {}, [](const auto& one) { return one.second.bytes; });
    const bool is_heavy = heaviest != hosts_.end() && heaviest->second.bytes > share;
    const std::size_t wanted = before - most_bytes_ + spare;
    const bool has_less =
        (is_heavy && drop_some(&heaviest->second, std::min(wanted, heaviest->second.bytes - share + spare))) ||
        drop_some(nullptr, wanted);
    forget_empty();
    if (!has_less && !forget_names()) return;
    // What is left may have been added up anew, and take more.
    dropped_bytes_ += before - std::min(before, bytes_);
  }
}

// The oldest minutes. Where these would free too little, or be what is counted now, events that take most.
bool MemoryHistory::drop_some(Host* of, std::size_t wanted) {
  Taking taking = what_is_taken(of);
  const std::size_t most_standing = (of != nullptr ? of->bytes : most_bytes_) / 4;
  const bool is_too_much = taking.standing / 3 > most_standing;
  const bool is_new = taking.minutes.empty() || taking.minutes.begin()->first >= now_;
  Minute last = ~0ull;
  if (is_too_much || is_new) {
    const auto size_of = [&](const Taken& one) { return is_too_much ? one.standing : one.all; };
    std::ranges::sort(taking.events, std::ranges::greater(), size_of);
    std::size_t count = 0, freed = 0;
    for (bool is_enough = false; count < taking.events.size() && !is_enough; ++count) {
      const Taken& one = taking.events[count];
      leave_out(one, of);
      freed += one.all;
      taking.standing -= one.standing;
      is_enough = freed >= wanted || (!is_new && taking.standing / 3 <= most_standing);
    }
    taking.events.resize(count);
    limit_left_out(of);
  } else if (!taking.events.empty()) {
    last = taking.last_for(wanted, now_);
    Minute& reach = of != nullptr ? of->reaches : reaches_;
    reach = std::max(reach, last + 1);
  }
  bool has_less = false;
  for (const Taken& one : taking.events) {
    Event& event = *one.event->second;
    const std::size_t series = event.series.size();
    has_less = drop(event, last, of) || has_less;
    const bool may_have_unused = of != nullptr || event.series.size() < series;
    if (may_have_unused) has_less = drop_keys(event, of != nullptr) || has_less;
  }
  return has_less;
}

// The first minute up to which so much goes, or the one before `now`.
MemoryHistory::Minute MemoryHistory::Taking::last_for(std::size_t wanted, Minute now) const {
  std::size_t freed = 0;
  for (const auto& [minute, bytes] : minutes) {
    freed += bytes;
    if (freed >= wanted || minute + 1 >= now) return std::min(minute, now - 1);
  }
  return now - 1;
}

// Of a host that has no histograms any more there may be keys.
MemoryHistory::Taking MemoryHistory::what_is_taken(const Host* of) {
  Taking taking;
  std::unordered_map<Minute, std::size_t> minutes;
  for (auto at = events_.begin(); at != events_.end(); ++at) {
    const Event& event = *at->second;
    Taken taken{at, 0, 0, 0};
    if (of == nullptr) {
      taken.standing = event.cost + event.key_bytes;
    } else {
      taken.standing = event.owner == of ? event.cost : 0;
      for (const Event::Key& key : event.keys) taken.standing += key.owner == of ? key.cost : 0;
    }
    const auto add = [&](Minute minute, std::size_t bytes) {
      taken.all += bytes;
      minutes[minute] += bytes;
    };
    for (const auto& [minute, total] : event.minutes) {
      if (of == nullptr || total.owner == of) add(minute, total.cost);
    }
    std::size_t standing = 0;
    for (const auto& [identity, series] : event.series) {
      if (of != nullptr && series.host != of) continue;
      standing += series.standing();
      add(series.minute, series.standing());
      for (const Change& change : series.changes) add(change.minute, change.bytes());
      if (series.first) add(series.first->minute, series.first->bytes());
      taken.newest = std::max(taken.newest, series.minute);
    }
    taken.all += taken.standing;
    taken.standing += standing;
    taking.standing += taken.standing;
    if (taken.all > 0) taking.events.push_back(taken);
  }
  taking.minutes.insert(minutes.begin(), minutes.end());
  return taking;
}

void MemoryHistory::leave_out(const Taken& event, Host* of) {
  const std::string& order = event.event->first.order;
  auto& orders = of != nullptr ? of->left_out : left_out_;
  const auto [at, is_new] = orders.try_emplace(order);
  at->second = std::max(at->second, std::min(event.newest, now_) + 1);
  const std::size_t cost = kLeftOutCost + order.size();
  if (is_new && of != nullptr) {
    of->own += cost;
    charge(*of, cost);
  } else if (is_new) {
    bytes_ += cost;
  }
}

void MemoryHistory::limit_left_out(Host* of) {
  const auto& orders = of != nullptr ? of->left_out : left_out_;
  Minute& reaches = of != nullptr ? of->reaches : reaches_;
  if (orders.size() <= kMostLeftOut) return;
  std::vector<Minute> all;
  for (const auto& [order, reach] : orders) all.push_back(reach);
  const auto last = all.end() - kMostLeftOut - 1;
  std::ranges::nth_element(all, last);
  reaches = std::max(reaches, std::min(*last, now_));
}

bool MemoryHistory::drop(Event& event, Minute minute, const Host* of) {
  Minute first = ~0ull;
  bool has_less = false;
  for (auto at = event.series.begin(); at != event.series.end();) {
    Series& series = at->second;
    if (of != nullptr && series.host != of) {
      ++at;
      continue;
    }
    for (; !series.changes.empty() && series.changes.front().minute <= minute; series.changes.pop_front()) {
      first = std::min(first, series.changes.front().minute);
      charge(*series.host, 0 - series.changes.front().bytes());
    }
    if (series.first && series.first->minute <= minute) {
      charge(*series.host, 0 - series.first->bytes());
      series.first.reset();
      has_less = true;
    }
    if (series.minute > minute) {
      ++at;
      continue;
    }
    charge(*series.host, 0 - series.standing());
    at = event.series.erase(at);
    has_less = true;
  }
  if (of == nullptr) {
    forget_minutes(event, 0, minute);
  } else if (first != ~0ull) {
    add_up(event, first, minute);
  }
  return has_less || first != ~0ull;
}

void MemoryHistory::forget_minutes(Event& event, Minute first, Minute last) {
  const auto begin = event.minutes.lower_bound(first);
  const auto end = event.minutes.upper_bound(last);
  for (auto at = begin; at != end; ++at) {
    bytes_ -= at->second.cost;
    if (at->second.owner != nullptr) at->second.owner->bytes -= at->second.cost;
  }
  event.minutes.erase(begin, end);
}

// Anew, from what its histograms counted.
void MemoryHistory::add_up(Event& event, Minute first, Minute last) {
  forget_minutes(event, first, last);
  for (auto& [identity, series] : event.series) {
    const auto begin = std::ranges::lower_bound(series.changes, first, {}, &Change::minute);
    for (auto at = begin; at != series.changes.end() && at->minute <= last; ++at) add_to_total(event, *at);
  }
}

// Those that no histogram has any more; not `are_all`: if they are many, as all others get new places.
bool MemoryHistory::drop_keys(Event& event, bool are_all) {
  constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> places(event.keys.size(), kNowhere);
  const auto for_each_rows = [&](const auto& take) {
    for (auto& [identity, series] : event.series) {
      take(series, series.rows);
      if (series.first) take(series, series.first->rows);
      for (Change& change : series.changes) take(series, change.rows);
    }
  };
  for_each_rows([&](const Series&, const std::string& rows) {
    PlacedRows::for_each(rows, event.width, event.numbers,
                         [&](std::uint32_t place, const std::uint64_t*) { places[place] = 0; });
  });
  std::size_t unused = 0;
  for (std::size_t i = 0; i < places.size(); ++i) unused += places[i] == kNowhere ? event.keys[i].cost : 0;
  if (unused == 0 || (!are_all && unused < event.key_bytes / 4)) return false;

  std::uint32_t next = 0;
  std::vector<Event::Key> keys;
  for (std::size_t i = 0; i < places.size(); ++i) {
    Event::Key& key = event.keys[i];
    if (places[i] != kNowhere) {
      places[i] = next++;
      keys.push_back(std::move(key));
    } else if (key.owner != nullptr) {
      key.owner->bytes -= key.cost;
    }
  }
  keys.shrink_to_fit();
  event.keys = std::move(keys);
  bytes_ -= unused;
  event.key_bytes -= unused;
  std::erase_if(event.places, [&](const auto& one) { return places[one.second] == kNowhere; });
  for (auto& [key, place] : event.places) place = places[place];
  event.places.rehash(0);
  event.scratch = std::vector<std::uint64_t>(event.keys.size() * event.width);
  for_each_rows([&](const Series& series, std::string& rows) {
    PlacedRows moved;
    PlacedRows::for_each(rows, event.width, event.numbers, [&](std::uint32_t place, const std::uint64_t* numbers) {
      moved.add(places[place], numbers, event.width);
    });
    const std::size_t before = rows.size();
    rows = moved.take();
    charge(*series.host, rows.size() - before);
  });
  add_up(event, 0, ~0ull);
  return true;
}

// Events without histograms, and hosts of which nothing is there and nothing is to be told.
void MemoryHistory::forget_empty() {
  std::erase_if(events_, [&](const auto& one) {
    Event& event = *one.second;
    if (!event.series.empty()) return false;
    forget_minutes(event, 0, ~0ull);
    bytes_ -= event.cost + event.key_bytes;
    if (event.owner != nullptr) event.owner->bytes -= event.cost;
    for (const Event::Key& key : event.keys) {
      if (key.owner != nullptr) key.owner->bytes -= key.cost;
    }
    return true;
  });
  std::erase_if(left_out_, [&](const auto& one) {
    if (one.second > reaches_) return false;
    bytes_ -= kLeftOutCost + one.first.size();
    return true;
  });
  for (auto& [name, host] : hosts_) {
    std::erase_if(host.left_out, [&](const auto& one) {
      if (one.second > std::max(reaches_, host.reaches)) return false;
      const std::size_t cost = kLeftOutCost + one.first.size();
      host.own -= cost;
      charge(host, 0 - cost);
      return true;
    });
  }
  std::erase_if(hosts_, [&](const auto& one) {
    const Host& host = one.second;
    if (host.bytes > host.own || host.reach_of("") > reaches_) return false;
    bytes_ -= host.own;
    return true;
  });
}

// Where these alone are left: all that was counted by then was dropped.
bool MemoryHistory::forget_names() {
  const std::size_t before = left_out_.size() + hosts_.size();
  for (const auto& [order, reach] : left_out_) reaches_ = std::max(reaches_, reach);
  for (const auto& [name, host] : hosts_) reaches_ = std::max(reaches_, host.reach_of(""));
  reaches_ = std::min(reaches_, now_);
  forget_empty();
  return left_out_.size() + hosts_.size() < before;
}

}  // namespace landtrace::fleet
