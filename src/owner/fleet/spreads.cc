#include "fleet/spreads.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/input.hpp"
#include "fleet/labels.hpp"
#include "rules/histograms/keys_text.hpp"

namespace landtrace::fleet {
namespace {

using ipc::HistogramKey;
using ipc::HistogramTable;
using ipc::KeyKind;

constexpr std::uint64_t kMostPower = 64;
constexpr double kSlow = 0.99;  // of a group's values: what groups are told apart by

constexpr std::size_t kBucketBytes = sizeof(measure::Distribution::Bucket) + 48;  // of a map

// A group has its key twice.
std::size_t bytes_of_group(const std::vector<std::string>& key) {
  std::size_t bytes = 2 * sizeof(SpreadGroup) + 128;
  for (const std::string& text : key) bytes += 2 * (sizeof(std::string) + text.size());
  return bytes;
}

bool has_spread(const HistogramTable& table) {
  return !table.keys.empty() && !table.values.empty() &&
         (table.keys.back().kind == KeyKind::kSteps || table.keys.back().kind == KeyKind::kLog2);
}

// "took" of "took.log2".
std::string field_of(const std::string& name) { return name.substr(0, name.find('.')); }

std::string text_of_key(const HistogramKey& key, const ipc::HistogramKeyValue& value) {
  if (key.kind == KeyKind::kText) return value.text;
  if (key.kind == KeyKind::kSigned) return std::to_string(static_cast<std::int64_t>(value.number));
  return std::string(trimmed(rules::value_text(key, value)));
}

void add_row(const HistogramTable& table, const ipc::HistogramRow& row, SpreadGroup& group) {
  group.count += row.hits;
  if (!has_spread(table)) return;
  const HistogramKey& key = table.keys.back();
  const std::uint64_t number = row.keys.back().number;
  if (key.kind == KeyKind::kSteps) {
    group.spread.add_step(number, key.width, row.hits, row.values.back());
  } else {
    group.spread.add(static_cast<unsigned>(std::min(number, kMostPower)), row.hits, row.values.back());
  }
  if (table.values.back().is_signed) group.spread.may_be_negative(key.signed_bits);
}

// The frames of one event.
class EventSpreads {
 public:
  // `shape`: what most hosts have.
  EventSpreads(std::string event, const HistogramTable& shape, const std::vector<std::string>& by, HostRoom& room)
      : keys_(shape.keys), values_(shape.values), room_(room) {
    made_.event = std::move(event);
    made_.by = by;
    const std::size_t own = keys_.size() - (has_spread(shape) ? 1 : 0);
    for (std::size_t i = 0; i < own; ++i) made_.keys.push_back(field_of(keys_[i].name));
    if (has_spread(shape)) made_.value = field_of(keys_.back().name);
    made_.is_time = made_.value && made_.value->ends_with("_ns");
    for (const std::string& name : made_.by) {
      const auto found = std::ranges::find(made_.keys, name);
      const auto place = static_cast<std::size_t>(found - made_.keys.begin());
      places_.push_back(found == made_.keys.end() ? std::nullopt : std::optional(place));
    }
  }

  void add(const std::string& host, const Frame* frame) {
    if (frame != nullptr && has_gone(*frame)) return;
    const bool is_fit = frame != nullptr && keys_ == frame->table.keys && values_ == frame->table.values;
    if (!is_fit || !room_.has(host, most_bytes_of(*frame))) {
      misfits_.insert(host);
      return;
    }
    const std::size_t before = bytes_;
    hosts_.insert(host);
    made_.dropped += frame->table.dropped;
    made_.unpaired.starts += frame->unpaired.starts;
    made_.unpaired.ends += frame->unpaired.ends;
    made_.unpaired.lost += frame->unpaired.lost;
    std::vector<std::string> key = labels_of(*frame);
    for (const ipc::HistogramRow& row : frame->table.rows) {
      for (std::size_t i = 0; i < places_.size(); ++i) {
        if (places_[i]) key[i] = text_of_key(keys_[*places_[i]], row.keys[*places_[i]]);
      }
      add(frame->table, row, group_of(key));
      add(frame->table, row, made_.all);
    }
    room_.take(host, bytes_ - before);
  }

  Spreads take() {
    made_.hosts = hosts_.size();
    made_.misfits.assign(misfits_.begin(), misfits_.end());
    std::vector<std::pair<double, SpreadGroup*>> order;
    for (auto& [key, group] : groups_) {
      order.emplace_back(made_.value ? group.spread.percentile(kSlow) : static_cast<double>(group.count), &group);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [slow, group] : order) made_.groups.push_back(std::move(*group));
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::vector<std::string> labels_of(const Frame& frame) const {
    Labels labels = parse_labels(frame.labels).value_or(Labels());
    labels[kHostLabel] = frame.host;
    labels[kDomainLabel] = frame.domain;
    std::vector<std::string> key;
    for (const std::string& name : made_.by) key.push_back(labels[name]);
    return key;
  }

  // A bucket for each row in its group and in all, and where groups are by keys a group for each row.
  [[nodiscard]] std::size_t most_bytes_of(const Frame& frame) const {
    const std::size_t rows = frame.table.rows.size();
    const bool is_by_key = std::ranges::any_of(places_, [](const auto& place) { return place.has_value(); });
    std::size_t bytes = (is_by_key ? rows : 1) * bytes_of_group(labels_of(frame));
    if (has_spread(frame.table)) bytes += rows * 2 * kBucketBytes;
    if (!is_by_key) return bytes;
    for (const ipc::HistogramRow& row : frame.table.rows) {
      for (const ipc::HistogramKeyValue& key : row.keys) bytes += 2 * key.text.size();
    }
    return bytes;
  }

  void add(const HistogramTable& table, const ipc::HistogramRow& row, SpreadGroup& group) {
    const std::size_t before = group.spread.buckets().size();
    add_row(table, row, group);
    bytes_ += (group.spread.buckets().size() - before) * kBucketBytes;
  }

  SpreadGroup& group_of(const std::vector<std::string>& key) {
    if (last_ != nullptr && last_->key == key) return *last_;
    const auto [at, is_new] = groups_.try_emplace(key);
    if (is_new) at->second.key = key;
    if (is_new) bytes_ += bytes_of_group(key);
    last_ = &at->second;
    return *last_;
  }

  Spreads made_;
  std::vector<HistogramKey> keys_;
  std::vector<ipc::HistogramValue> values_;
  std::vector<std::optional<std::size_t>> places_;  // of each name in `by`, which key it is
  std::map<std::vector<std::string>, SpreadGroup> groups_;
  SpreadGroup* last_ = nullptr;  // that a row went to: its neighbour mostly goes there, too
  HostRoom& room_;
  std::size_t bytes_ = 0;  // of groups and buckets, about
  std::set<std::string> hosts_;
  std::set<std::string> misfits_;
};

}  // namespace

std::vector<Spreads> spreads_of(const Sums& sums, const std::string& order, const std::vector<std::string>& by) {
  HostRoom room(sums.most_host_bytes());
  return spreads_of(sums, order, by, room);
}

std::vector<Spreads> spreads_of(const Sums& sums, const std::string& order, const std::vector<std::string>& by,
                                HostRoom& room) {
  std::vector<Spreads> all;
  const auto shapes = sums.shapes_of(order);
  std::optional<EventSpreads> now;
  std::string name;
  sums.each_of(order, [&](const std::string& event, const std::string& host, const Frame* frame) {
    if (!now || event != name) {
      if (now) all.push_back(now->take());
      const auto shape = shapes.find(event);
      now.emplace(event, shape == shapes.end() ? HistogramTable() : shape->second, by, room);
      name = event;
    }
    now->add(host, frame);
  });
  if (now) all.push_back(now->take());
  return all;
}

}  // namespace landtrace::fleet
