#include "cli/histogram/hist_request.hpp"

#include <algorithm>

#include "cli/histogram/fits.hpp"

namespace landtrace::cli {
namespace {

constexpr std::size_t kMaxKeys = 3;
constexpr std::string_view kSpread = ".log2";

// "took.log2", or "took.log2=32" with so many steps a power of two.
bool is_spread(const std::string& value) {
  const std::size_t dot = value.find('.');
  if (dot == std::string::npos) return false;
  const std::string_view modifier = std::string_view(value).substr(dot);
  return modifier == kSpread || (modifier.starts_with(kSpread) && modifier[kSpread.size()] == '=');
}

// What an owner calls a key.
std::string printed_name(const std::string& key) {
  const std::string name = without_modifier(key);
  return name == "stacktrace" ? "common_stacktrace" : name;
}

}  // namespace

Result<HistShape> shape_of(const HistOptions& options) {
  HistShape shape;
  shape.title = options.event;
  for (const std::string& key : options.keys) shape.keys.push_back(printed_name(key));
  for (const std::string& value : options.vals) {
    if (!is_spread(value)) {
      shape.sums.push_back(value);
    } else if (shape.spread) {
      return fail(EINVAL, "--vals: one value can have .log2");
    } else {
      shape.spread = without_modifier(value);
      shape.is_time = shape.spread->ends_with("_ns");
    }
  }
  if (shape.keys.size() + (shape.spread ? 1 : 0) > kMaxKeys) {
    return fail(EINVAL, "a histogram has three keys at most, of which a .log2 value is one");
  }
  if (shape.keys.empty() && !shape.spread) return fail(EINVAL, "want --keys, or --vals with a .log2");
  return shape;
}

std::string trigger_of(const HistOptions& options, const HistShape& shape) {
  std::vector<std::string> keys = options.keys;
  std::vector<std::string> values = shape.sums;
  if (shape.spread) {
    keys.push_back(*std::find_if(options.vals.begin(), options.vals.end(), is_spread));
    values.push_back(*shape.spread);
  }
  return "hist:keys=" + with_commas(keys) + (values.empty() ? "" : ":vals=" + with_commas(values)) +
         trigger_end(options);
}

Result<void> check_fits(const HistOptions& options, const output::EventType& type) {
  LT_CHECK(check_has_fields("--keys", options.keys, type));
  LT_CHECK(check_has_fields("--vals", options.vals, type));
  LT_CHECK(check_can_be_added(options.vals, type));
  return check_filter_fits(options.filter, type);
}

}  // namespace landtrace::cli
