// What a collector's memory takes, and what goes where there is no more of it.
#include <algorithm>
#include <limits>

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

void MemoryHistory::make_room() {
  while (bytes_ > most_bytes_) {
    const std::size_t before = bytes_;
    const auto heaviest = std::ranges::max_element(hosts_, {}, [](const auto& one) { return one.second.bytes; });
    const bool is_heavy = heaviest != hosts_.end() && heaviest->second.bytes > most_bytes_ / 4;
    const bool has_less = (is_heavy && drop_some(&heaviest->second)) || drop_some(nullptr);
    forget_empty();
    if (!has_less && !forget_names()) return;
    // What is left may have been added up anew, and take more.
    dropped_bytes_ += before - std::min(before, bytes_);
  }
}

// The oldest minute. Where that would free too little, or be what is counted now, the event that takes most.
bool MemoryHistory::drop_some(Host* of) {
  Minute oldest = ~0ull;
  std::vector<Taken> events = what_is_taken(of, oldest);
  std::size_t standing = 0;
  for (const Taken& one : events) standing += one.standing;
  const bool is_too_much = standing / 3 > (of != nullptr ? of->bytes : most_bytes_) / 4;
  const bool is_whole = !events.empty() && (is_too_much || oldest >= now_);
  if (is_whole) {
    const auto most =
        std::ranges::max_element(events, {}, [&](const Taken& one) { return is_too_much ? one.standing : one.all; });
    leave_out(*most, of);
    events = {*most};
  } else if (!events.empty()) {
    Minute& reach = of != nullptr ? of->reaches : reaches_;
    reach = std::max(reach, oldest + 1);
  }
  bool has_less = false;
  for (const Taken& one : events) {
    Event& event = *one.event->second;
    const std::size_t series = event.series.size();
    has_less = drop(event, is_whole ? ~0ull : oldest, of) || has_less;
    const bool may_have_unused = of != nullptr || event.series.size() < series;
    if (may_have_unused) has_less = drop_keys(event, of != nullptr) || has_less;
  }
  return has_less;
}

// Of a host that has no histograms any more there may be keys.
std::vector<MemoryHistory::Taken> MemoryHistory::what_is_taken(const Host* of, Minute& oldest) {
  std::vector<Taken> all;
  for (auto at = events_.begin(); at != events_.end(); ++at) {
    const Event& event = *at->second;
    Taken taken{at, 0, 0, 0};
    if (of == nullptr) {
      taken.standing = event.cost + event.key_bytes;
    } else {
      taken.standing = event.owner == of ? event.cost : 0;
      for (const Event::Key& key : event.keys) taken.standing += key.owner == of ? key.cost : 0;
    }
    for (const auto& [minute, total] : event.minutes) {
      if (of == nullptr) taken.all += total.rows.capacity() * sizeof(std::uint64_t);
    }
    for (const auto& [identity, series] : event.series) {
      if (of != nullptr && series.host != of) continue;
      taken.standing += series.standing();
      for (const Change& change : series.changes) taken.all += change.bytes();
      if (series.first) taken.all += series.first->bytes();
      oldest = std::min(oldest, series.oldest());
      taken.newest = std::max(taken.newest, series.minute);
    }
    taken.all += taken.standing;
    if (taken.all > 0) all.push_back(taken);
  }
  return all;
}

void MemoryHistory::leave_out(const Taken& event, Host* of) {
  const std::string& order = event.event->first.order;
  auto& orders = of != nullptr ? of->left_out : left_out_;
  Minute& reaches = of != nullptr ? of->reaches : reaches_;
  const auto [at, is_new] = orders.try_emplace(order);
  at->second = std::max(at->second, std::min(event.newest, now_) + 1);
  const std::size_t cost = kLeftOutCost + order.size();
  if (is_new && of != nullptr) {
    of->own += cost;
    charge(*of, cost);
  } else if (is_new) {
    bytes_ += cost;
  }
  if (orders.size() <= kMostLeftOut) return;
  const auto first = std::ranges::min_element(orders, {}, [](const auto& one) { return one.second; });
  reaches = std::max(reaches, std::min(first->second, now_));
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
      forget(series, series.changes.front());
    }
    if (series.first && series.first->minute <= minute) {
      forget(series, *series.first);
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
    event.minutes.erase(event.minutes.begin(), event.minutes.upper_bound(minute));
  } else if (first != ~0ull) {
    add_up(event, first, minute);
  }
  return has_less || first != ~0ull;
}

void MemoryHistory::forget(const Series& series, const Change& change) {
  charge(*series.host, 0 - change.bytes());
  forget_total(series, change);
}

void MemoryHistory::forget_total(const Series& series, const Change& change) {
  bytes_ -= change.total_bytes;
  if (change.is_of_one) series.host->bytes -= change.total_bytes;
}

// Anew, from what its histograms counted.
void MemoryHistory::add_up(Event& event, Minute first, Minute last) {
  event.minutes.erase(event.minutes.lower_bound(first), event.minutes.upper_bound(last));
  for (auto& [identity, series] : event.series) {
    const auto begin = std::ranges::lower_bound(series.changes, first, {}, &Change::minute);
    for (auto at = begin; at != series.changes.end() && at->minute <= last; ++at) {
      forget_total(series, *at);
      add_to_total(event, series, *at);
    }
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
