// A histogram as one line of JSON.
#include <nlohmann/json.hpp>

#include "cli/histogram/view.hpp"

namespace landtrace::cli {
namespace {

using Json = nlohmann::ordered_json;

Json spread_json(const Distribution& spread) {
  Json json{{"mean", spread.mean()},
            {"p50", spread.percentile(0.5)},
            {"p90", spread.percentile(0.9)},
            {"p99", spread.percentile(0.99)},
            {"sum", spread.sum()}};
  for (const auto& [power, bucket] : spread.buckets()) {
    json["buckets"].push_back(
        {{"from", Distribution::low(power)}, {"to", Distribution::high(power)}, {"count", bucket.count}});
  }
  return json;
}

Json group_json(const HistShape& shape, const HistGroup& group) {
  Json json;
  json["key"] = Json::object();
  for (std::size_t i = 0; i < group.keys.size(); ++i) json["key"][shape.keys[i]] = group.keys[i];
  json["count"] = group.count;
  for (std::size_t i = 0; i < group.sums.size(); ++i) json["sums"][shape.sums[i]] = group.sums[i];
  if (shape.spread) json[*shape.spread] = spread_json(group.spread);
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
  for (const HistGroup& group : view.groups) json["groups"].push_back(group_json(shape, group));
  // Texts of programs need not be UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace landtrace::cli
