// A histogram as one line of JSON.
#include <nlohmann/json.hpp>

#include "cli/histogram/view.hpp"

namespace landtrace::cli {
namespace {

using Json = nlohmann::ordered_json;

Json key_json(const HistKey& key) {
  if (!key.is_number) return key.text;
  return std::visit([](const auto& value) { return Json(value); }, key.value);
}

Json sum_json(std::uint64_t sum, bool is_signed) {
  return is_signed ? Json(static_cast<std::int64_t>(sum)) : Json(sum);
}

Json spread_json(const measure::Distribution& spread) {
  Json json{{"mean", spread.mean()},
            {"p50", spread.percentile(0.5)},
            {"p90", spread.percentile(0.9)},
            {"p99", spread.percentile(0.99)},
            {"p99.9", spread.percentile(0.999)},
            {"sum", sum_json(spread.sum(), spread.has_negative())}};
  for (const auto& [low, bucket] : spread.buckets()) {
    const Json from = low == 0 ? Json(spread.lowest()) : Json(low);
    json["buckets"].push_back({{"from", from}, {"to", bucket.high}, {"count", bucket.count}});
  }
  return json;
}

Json slow_json(const SlowEvent& slow) {
  Json fields = Json::parse(slow.fields, nullptr, false);
  if (fields.is_discarded()) fields = slow.fields;
  return {{"ns", slow.ns},     {"host", slow.host},         {"time_ns", slow.time_ns}, {"tid", slow.tid},
          {"task", slow.task}, {"fields", std::move(fields)}, {"stack", slow.stack}};
}

Json group_json(const HistShape& shape, const HistView& view, const HistGroup& group) {
  Json json;
  json["key"] = Json::object();
  for (std::size_t i = 0; i < group.keys.size(); ++i) json["key"][shape.keys[i]] = key_json(group.keys[i]);
  json["count"] = group.count;
  for (std::size_t i = 0; i < group.sums.size(); ++i)
    json["sums"][shape.sums[i]] = sum_json(group.sums[i], view.is_signed(i));
  if (shape.spread) json[*shape.spread] = spread_json(group.spread);
  for (const SlowEvent& slow : group.slowest) json["slowest"].push_back(slow_json(slow));
  return json;
}

}  // namespace

std::string json_text(const HistShape& shape, const HistView& view) {
  Json json{{"title", shape.title}, {"hits", view.hits}, {"dropped", view.dropped}, {"groups", Json::array()}};
  if (view.unpaired) {
    json["starts_without_end"] = view.unpaired->starts;
    json["ends_without_start"] = view.unpaired->ends;
    json["lost"] = view.unpaired->lost;
  }
  for (const HistGroup& group : view.groups) json["groups"].push_back(group_json(shape, view, group));
  // Texts of programs need not be UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace landtrace::cli
