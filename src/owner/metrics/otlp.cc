#include "metrics/otlp.hpp"

#include <nlohmann/json.hpp>

namespace landtrace::metrics {
namespace {

using nlohmann::json;

constexpr int kCumulative = 2;

json attribute(const std::string& name, const std::string& value) {
  return {{"key", name}, {"value", {{"stringValue", value}}}};
}

json attributes_of(const std::vector<Label>& labels) {
  json attributes = json::array();
  for (const Label& label : labels) attributes.push_back(attribute(label.name, label.value));
  return attributes;
}

// 64-bit numbers are texts there.
json point_of(const Series& series, const OtlpTimes& times) {
  return {{"attributes", attributes_of(series.labels)},
          {"startTimeUnixNano", std::to_string(times.started_ns)},
          {"timeUnixNano", std::to_string(times.now_ns)}};
}

json number_point(const Series& series, const OtlpTimes& times) {
  json point = point_of(series, times);
  if (const auto* const real = std::get_if<double>(&series.value)) {
    point["asDouble"] = *real;
  } else if (const auto* const number = std::get_if<std::int64_t>(&series.value)) {
    point["asInt"] = std::to_string(*number);
  } else if (const std::uint64_t whole = std::get<std::uint64_t>(series.value); whole <= INT64_MAX) {
    point["asInt"] = std::to_string(whole);
  } else {
    point["asDouble"] = static_cast<double>(whole);
  }
  return point;
}

// The last count is of what is above all bounds: nothing here.
json histogram_point(const Series& series, const OtlpTimes& times) {
  json point = point_of(series, times);
  json counts = json::array(), bounds = json::array();
  std::uint64_t count = 0, in_bucket = 0;
  for (std::size_t i = 0; i < series.buckets.size(); ++i) {
    in_bucket += series.buckets[i].count;
    const bool goes_on = i + 1 < series.buckets.size() && series.buckets[i + 1].upper == series.buckets[i].upper;
    if (goes_on) continue;
    counts.push_back(std::to_string(in_bucket));
    bounds.push_back(series.buckets[i].upper);
    count += std::exchange(in_bucket, 0);
  }
  counts.push_back("0");
  point["count"] = std::to_string(count);
  point["bucketCounts"] = std::move(counts);
  point["explicitBounds"] = std::move(bounds);
  if (series.sum) point["sum"] = std::visit([](const auto& sum) { return static_cast<double>(sum); }, *series.sum);
  return point;
}

json metric_of(const Family& family, const OtlpTimes& times) {
  json points = json::array();
  const bool is_histogram = family.kind == Family::Kind::kHistogram;
  for (const Series& series : family.series) {
    points.push_back(is_histogram ? histogram_point(series, times) : number_point(series, times));
  }
  json metric{{"name", family.name}, {"description", family.help}};
  json data{{"dataPoints", std::move(points)}};
  if (family.kind == Family::Kind::kGauge) {
    metric["gauge"] = std::move(data);
    return metric;
  }
  data["aggregationTemporality"] = kCumulative;
  if (!is_histogram) data["isMonotonic"] = true;
  metric[is_histogram ? "histogram" : "sum"] = std::move(data);
  return metric;
}

}  // namespace

std::string otlp_json(const std::vector<Family>& families, const OtlpTimes& times, const std::string& host) {
  json metrics = json::array();
  for (const Family& family : families) {
    if (!family.series.empty()) metrics.push_back(metric_of(family, times));
  }
  const json resource{{"attributes", {attribute("service.name", "landtrace"), attribute("host.name", host)}}};
  const json scope{{"scope", {{"name", "landtrace"}}}, {"metrics", std::move(metrics)}};
  const json whole{{"resourceMetrics", {{{"resource", resource}, {"scopeMetrics", {scope}}}}}};
  return whole.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace landtrace::metrics
