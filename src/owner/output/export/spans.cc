#include "output/export/spans.hpp"

#include <fmt/format.h>

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

// Takes the innermost open span of this key out; nullopt: none is open, or it is one that was left out.
std::optional<Span> SpanFinder::take(const Key& key, std::int32_t tid) {
  const auto found = open_.find(key);
  if (found == open_.end()) return std::nullopt;
  Open& open = found->second;
  if (open.left_out > 0) {
    --open.left_out;
    return std::nullopt;
  }
  Span span = std::move(open.spans.back());
  open.spans.pop_back();
  if (open.spans.empty()) open_.erase(found);
  --count_;
  auto& lane = lanes_[span.tid];
  span.is_nested = lane.back() == span.number && span.tid == tid;
  lane.erase(std::find(lane.begin(), lane.end(), span.number));
  if (lane.empty()) lanes_.erase(span.tid);
  return span;
}

void SpanFinder::begin(const Key& key, const ExportedEvent& event, std::uint32_t pid) {
  const auto found = open_.find(key);
  const bool is_within_left_out = found != open_.end() && found->second.left_out > 0;
  if (count_ >= kMostOpen || is_within_left_out) {
    // Its end, too, must not end one around it.
    if (found != open_.end()) ++found->second.left_out;
    return;
  }
  Span span{.rule = key.rule,
            .begin_ns = event.record.time_ns,
            .tid = event.record.tid,
            .pid = pid,
            .key = key.value,
            .number = ++numbers_};
  lanes_[span.tid].push_back(span.number);
  open_[key].spans.push_back(std::move(span));
  ++count_;
}

std::vector<Span> SpanFinder::add(const ExportedEvent& event, std::uint32_t pid) {
  std::vector<Span> ended;
  for (const SpanRule& rule : rules_) {
    const bool begins = is(event.type, rule.from);
    const bool ends = is(event.type, rule.to);
    if (!begins && !ends) continue;
    const auto value = key_of(event, rule.key);
    if (!value) continue;
    const Key key{&rule, *value};
    if (ends) {
      if (std::optional<Span> span = take(key, event.record.tid)) {
        span->end_ns = std::max(event.record.time_ns, span->begin_ns);
        ended.push_back(std::move(*span));
      } else if (!begins) {
        ++unmatched_;
      }
    } else if (!rule.key.empty() && take(key, event.record.tid)) {
      // What begins again under its key has not ended.
      ++replaced_;
    }
    if (begins) begin(key, event, pid);
  }
  return ended;
}

std::string SpanFinder::complaint() const {
  if (begins_without_end() == 0 && ends_without_begin() == 0) return {};
  return fmt::format("spans without an end: {}; ends without a begin: {}", begins_without_end(), ends_without_begin());
}

}  // namespace landtrace::output
