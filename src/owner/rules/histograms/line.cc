#include "rules/histograms/line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace landtrace::rules {
namespace {

std::string joined(const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, ",")); }

std::string keys_text(const Histogram& histogram) {
  std::vector<std::string> parts;
  for (const FieldPtr& key : histogram.keys) parts.push_back(text_of(*key));
  return joined(parts);
}

std::string values_text(const Histogram& histogram) {
  std::vector<std::string> parts;
  if (!histogram.attributes.no_hitcount) parts.emplace_back("hitcount");
  for (std::size_t i = 1; i < histogram.values.size(); ++i) parts.push_back(text_of(*histogram.values[i]));
  return joined(parts);
}

std::string variables_text(const Histogram& histogram) {
  std::vector<std::string> parts;
  for (const FieldPtr& variable : histogram.variables) parts.push_back(text_of(*variable));
  return parts.empty() ? "" : ":" + joined(parts);
}

std::string sort_text(const Histogram& histogram) {
  std::vector<std::string> parts;
  for (const HistogramSortKey& key : histogram.sort) {
    std::string text = key.field == 0 ? "hitcount" : text_of(*histogram.sorted_field(key));
    if (key.descending) text += ".descending";
    parts.push_back(std::move(text));
  }
  return joined(parts);
}

std::string action_text(const language::ActionText& action) {
  std::vector<std::string> params = action.params;
  if (action.has_keyword) params.insert(params.begin(), action.synthetic);
  if (action.deed == hist::Deed::kSnapshot) params.clear();
  std::string handler;
  switch (action.handler) {
    case hist::Handler::kOnMatch:
      handler = fmt::format("onmatch({}.{})", action.match_system, action.match_event);
      break;
    case hist::Handler::kOnMax:
      handler = fmt::format("onmax({})", action.tracked);
      break;
    case hist::Handler::kOnChange:
      handler = fmt::format("onchange({})", action.tracked);
      break;
  }
  return fmt::format(":{}.{}({})", handler, action.name, joined(params));
}

}  // namespace

std::string definition_text(const Histogram& histogram) {
  const language::HistAttributes& attributes = histogram.attributes;
  std::string text = "hist:";
  if (!attributes.name.empty()) text += fmt::format("name={}:", attributes.name);
  text += fmt::format("keys={}:vals={}{}:sort={}:size={}", keys_text(histogram), values_text(histogram),
                      variables_text(histogram), sort_text(histogram), 1u << attributes.bits);
  if (histogram.uses_time) text += fmt::format(":clock={}", attributes.clock);
  if (attributes.no_hitcount) text += ":nohitcount";
  for (const HistogramAction& action : histogram.actions) text += action_text(action.text);
  return text;
}

}  // namespace landtrace::rules
