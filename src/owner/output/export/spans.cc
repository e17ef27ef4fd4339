#include "output/export/spans.hpp"

#include <algorithm>

#include "output/field_text.hpp"
#include "output/json/value.hpp"

namespace landtrace::output {
namespace {

bool is(const EventType& type, const std::string& name) {
  return name.size() == type.system.size() + 1 + type.name.size() && name.starts_with(type.system) &&
         name.ends_with(type.name);
}

// Numbers of any size are equal if their values are.
std::optional<std::string> key_of(const ExportedEvent& event, const std::string& name) {
  if (name.empty()) return std::to_string(event.record.tid);
  const auto& fields = event.type.declaration.fields;
  const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& each) { return each.name == name; });
  if (field == fields.end()) return std::nullopt;
  if (is_text(*field)) return std::string(text_of(*field, event.record.payload));
  std::string value;
  json::append_value(value, *field, event.record.payload);
  return value;
}

}  // namespace

std::vector<Span> SpanFinder::add(const ExportedEvent& event, std::uint32_t pid) {
  std::vector<Span> ended;
  for (const SpanRule& rule : rules_) {
    const bool begins = is(event.type, rule.from);
    const bool ends = is(event.type, rule.to);
    if (!begins && !ends) continue;
    const auto value = key_of(event, rule.key);
    if (!value) continue;
    const Key key{&rule, *value};
    const auto found = open_.find(key);
    if (ends && found == open_.end() && !begins) ++unmatched_;
    if (found != open_.end()) {
      // One that begins again has not ended: the older is forgotten.
      Span span = std::move(found->second);
      open_.erase(found);
      auto& lane = lanes_[span.tid];
      span.is_nested = lane.back() == span.number && span.tid == event.record.tid;
      lane.erase(std::find(lane.begin(), lane.end(), span.number));
      if (lane.empty()) lanes_.erase(span.tid);
      if (ends) {
        span.end_ns = std::max(event.record.time_ns, span.begin_ns);
        ended.push_back(std::move(span));
      }
    }
    if (!begins || open_.size() >= kMostOpen) continue;
    Span span{.rule = &rule,
              .begin_ns = event.record.time_ns,
              .tid = event.record.tid,
              .pid = pid,
              .key = *value,
              .number = ++numbers_};
    lanes_[span.tid].push_back(span.number);
    open_.emplace(key, std::move(span));
  }
  return ended;
}

}  // namespace landtrace::output
