#include "fleet/sums.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "fleet/host_room.hpp"
#include "fleet/labels.hpp"
#include "fleet/shape_votes.hpp"
#include "fleet/slow_sum.hpp"
#include "fleet/store_row.hpp"
#include "fleet/subjects.hpp"
#include "fleet/table_sum.hpp"

namespace landtrace::fleet {
namespace {

std::vector<std::string> group_of(const Frame& frame, const std::vector<std::string>& by) {
  std::vector<std::string> group;
  Labels labels = parse_labels(frame.labels).value_or(Labels());
  labels[kHostLabel] = frame.host;
  labels[kDomainLabel] = frame.domain;
  for (const std::string& name : by) group.push_back(labels[name]);
  return group;
}

// The frames of one event.
class EventSum {
 public:
  // `shape`: what most hosts have.
  EventSum(const ipc::HistogramTable& shape, const std::vector<std::string>& by, HostRoom& room)
      : by_(by), room_(room) {
    // Without, all have gone: there is nothing that labels could stand before.
    if (!shape.keys.empty()) sum_.begin(shape, by);
  }

  void add(const std::string& host, std::string_view bytes) {
    const auto frame = decode_frame(bytes);
    if (frame && has_gone(*frame)) return;
    const bool counts_by_keys = frame && !frame->table.keys.empty();
    if (!counts_by_keys || !add_table(host, frame->table, group_of(*frame, by_))) {
      misfits_.insert(host);
      return;
    }
    hosts_.insert(host);
    unpaired_.starts += frame->unpaired.starts;
    unpaired_.ends += frame->unpaired.ends;
    unpaired_.lost += frame->unpaired.lost;
    slowest_.add(*frame, group_of(*frame, by_));
  }

  void leave_out(const std::string& host) { misfits_.insert(host); }

  [[nodiscard]] Sum take(const std::string& event) {
    return {event,         std::move(sum_).table(),           unpaired_, slowest_.slowest(),
            hosts_.size(), {misfits_.begin(), misfits_.end()}};
  }

 private:
  // A host can begin as many generations, and name as many events, as it likes: in memory a row takes much more than
  // in a frame.
  bool add_table(const std::string& host, const ipc::HistogramTable& table, const std::vector<std::string>& group) {
    if (!room_.has(host, TableSum::bytes_of(table, group))) return false;
    const std::size_t before = sum_.bytes();
    const bool is_added = sum_.add(table, by_, group);
    room_.take(host, sum_.bytes() - before);
    return is_added;
  }

  const std::vector<std::string>& by_;
  HostRoom& room_;
  TableSum sum_;
  Unpaired unpaired_;
  SlowSum slowest_;
  std::set<std::string> hosts_;
  std::set<std::string> misfits_;
};

}  // namespace

Result<Sums::Was> Sums::add(const std::string& subject, std::string_view bytes, std::uint64_t heard_ns) {
  const auto whole = whole_of(subject);
  if (!whole) return take(subject, bytes, heard_ns);
  LT_TRY(const auto frame, parts_.add(*whole, bytes));
  if (!frame) return Was::kPart;
  return take(*whole, *frame, heard_ns);
}

Result<Sums::Was> Sums::take(const std::string& subject, std::string_view bytes, std::uint64_t heard_ns) {
  constexpr std::size_t kHistogramCost = 512;
  LT_TRY(const Frame head, decode_head(bytes));
  LT_CHECK(check_subject(subject, head));
  Key key{head.order, head.event, head.host, head.boot, head.domain, head.generation};
  const auto known = newest_.find(key);
  if (known != newest_.end() && head.sequence <= known->second.sequence) {
    return head.sequence == known->second.sequence ? Was::kKnown : Was::kOlder;
  }
  Host& host = hosts_[head.host];
  const std::size_t before = known == newest_.end() ? 0 : known->second.cost;
  const std::size_t cost = bytes.size() + kHistogramCost;
  if (host.bytes - before + cost > most_host_bytes_) {
    host.is_full = true;
    return fail(ENOSPC, head.host + " has sent more than is kept of one host");
  }
  host.bytes = host.bytes - before + cost;
  bytes_ = bytes_ - before + cost;
  const std::uint64_t number = known == newest_.end() ? next_number_++ : known->second.number;
  newest_[std::move(key)] = {head.sequence, heard_ns, number, cost, std::string(bytes)};
  return Was::kNews;
}

std::vector<Sum> Sums::of(const std::string& order, const std::vector<std::string>& by) const {
  std::vector<Sum> sums;
  const auto shapes = shapes_of(order);
  HostRoom room(most_host_bytes_);
  for (auto at = newest_.lower_bound({order, {}, {}, {}, {}, 0}); at != newest_.end() && at->first.order == order;) {
    const std::string event = at->first.event;
    const auto shape = shapes.find(event);
    EventSum sum(shape == shapes.end() ? ipc::HistogramTable() : shape->second, by, room);
    for (; at != newest_.end() && at->first.order == order && at->first.event == event; ++at) {
      sum.add(at->first.host, at->second.bytes);
    }
    for (const auto& [name, host] : hosts_) {
      if (host.is_full) sum.leave_out(name);
    }
    sums.push_back(sum.take(event));
  }
  return sums;
}

void Sums::each_of(
    const std::string& order,
    const std::function<void(const std::string& event, const std::string& host, const Frame* frame)>& take) const {
  const auto first = newest_.lower_bound({order, {}, {}, {}, {}, 0});
  for (auto at = first; at != newest_.end() && at->first.order == order; ++at) {
    const auto frame = decode_frame(at->second.bytes);
    take(at->first.event, at->first.host, frame ? &*frame : nullptr);
  }
}

std::map<std::string, ipc::HistogramTable> Sums::shapes_of(const std::string& order) const {
  std::map<std::string, ShapeVotes> votes;
  for (auto at = newest_.lower_bound({order, {}, {}, {}, {}, 0}); at != newest_.end() && at->first.order == order;
       ++at) {
    const auto shape = decode_shape(at->second.bytes);
    // One that has gone has no keys.
    if (shape && !shape->keys.empty()) {
      votes[at->first.event].add(at->first.host, shape_bytes(*shape), at->second.number);
    }
  }
  std::map<std::string, ipc::HistogramTable> shapes;
  for (const auto& [event, of_event] : votes) {
    if (auto shape = shape_of_bytes(*of_event.most())) shapes.emplace(event, *std::move(shape));
  }
  return shapes;
}

std::vector<std::string> Sums::orders() const {
  std::vector<std::string> orders;
  for (const auto& [key, newest] : newest_) {
    if (orders.empty() || orders.back() != key.order) orders.push_back(key.order);
  }
  return orders;
}

void Sums::forget_if(const std::function<bool(const Key&, const Newest&)>& is_unwanted) {
  std::erase_if(newest_, [&](const auto& one) {
    if (!is_unwanted(one.first, one.second)) return false;
    bytes_ -= one.second.cost;
    hosts_[one.first.host].bytes -= one.second.cost;
    return true;
  });
}

void Sums::forget(const std::string& order) {
  forget_if([&](const Key& key, const Newest&) { return key.order == order; });
}

void Sums::forget_before(std::uint64_t heard_ns) {
  forget_if([&](const Key&, const Newest& newest) { return newest.heard_ns < heard_ns; });
}

void Sums::keep_newest(const std::function<bool(const Key&)>& is_wanted) {
  forget_if([&](const Key& key, const Newest&) { return !is_wanted(key); });
  const auto name_of = [](const Key& key) { return std::tuple(key.order, key.event, key.host, key.domain); };
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::uint64_t> generations;
  for (const auto& [key, newest] : newest_) {
    std::uint64_t& generation = generations[name_of(key)];
    generation = std::max(generation, key.generation);
  }
  forget_if([&](const Key& key, const Newest&) { return key.generation < generations[name_of(key)]; });
}

}  // namespace landtrace::fleet
