#include "ui/fleet_counts.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace landtrace::ui {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostMade = 16;

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

// What a screen can show: two columns to a power of two. [column, lowest, highest, count]
Json columns_of(const measure::Distribution& spread) {
  struct Column {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint64_t count = 0;
  };
  std::map<int, Column> columns;
  for (const auto& [low, bucket] : spread.buckets()) {
    const int number = low == 0 ? 0 : static_cast<int>(std::floor(2 * std::log2(static_cast<double>(low))));
    Column& column = columns.try_emplace(number, Column{low, bucket.high, 0}).first->second;
    column.high = bucket.high;
    column.count += bucket.count;
  }
  Json all = Json::array();
  for (const auto& [number, column] : columns) all.push_back({number, column.low, column.high, column.count});
  return all;
}

Json group_json(const fleet::SpreadGroup& group, bool has_spread) {
  Json json{{"key", group.key}, {"count", group.count}};
  if (!has_spread) return json;
  json["percentiles"] = {group.spread.percentile(0.5), group.spread.percentile(0.9), group.spread.percentile(0.99),
                         group.spread.percentile(0.999)};
  json["columns"] = columns_of(group.spread);
  return json;
}

Json json_of(const fleet::Spreads& spreads) {
  const bool has_spread = spreads.value.has_value();
  Json groups = Json::array();
  for (std::size_t i = 0; i < std::min(kMostGroups, spreads.groups.size()); ++i) {
    groups.push_back(group_json(spreads.groups[i], has_spread));
  }
  return {{"event", spreads.event},
          {"value", spreads.value.value_or("")},
          {"isTime", spreads.is_time},
          {"keys", spreads.keys},
          {"by", spreads.by},
          {"hosts", spreads.hosts},
          {"all", group_json(spreads.all, has_spread)},
          {"groups", std::move(groups)},
          {"groupsInAll", spreads.groups.size()},
          {"starts", spreads.unpaired.starts},
          {"ends", spreads.unpaired.ends},
          {"lost", spreads.unpaired.lost},
          {"dropped", spreads.dropped},
          {"misfits", spreads.misfits}};
}

}  // namespace

std::string json_of(const std::string& order, const std::vector<fleet::Spreads>& all) {
  Json events = Json::array();
  for (const fleet::Spreads& one : all) events.push_back(json_of(one));
  return Json{{"order", order}, {"events", std::move(events)}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void FleetCounts::take(const std::string& subject, const std::string& bytes) {
  const auto was = sums_.add(subject, bytes);
  if (was && *was == fleet::Sums::Was::kNews) ++version_;
}

const std::string& FleetCounts::json(const std::string& order, const std::string& by) {
  constexpr int kPace = 10;
  const Clock::time_point begin = Clock::now();
  if (made_.size() >= kMostMade && !made_.contains(by)) made_.clear();
  Made& made = made_[by];
  if (made.version == version_ || begin < made.next) return made.json;
  made.json = json_of(order, fleet::spreads_of(sums_, order, parts_of(by)));
  made.version = version_;
  made.next = Clock::now() + kPace * (Clock::now() - begin);
  return made.json;
}

}  // namespace landtrace::ui
