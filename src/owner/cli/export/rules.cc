#include "cli/export/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/histogram/fits.hpp"
#include "cli/histogram/watch_options.hpp"
#include "cli/missing_events.hpp"

namespace landtrace::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

using Types = std::map<std::uint16_t, output::EventType>;

std::string name_of(const output::EventType& type) { return type.system + ':' + type.name; }

// What a histogram could use besides the event's own fields is none of them.
Result<const event::Field*> own_field(const std::string& option, const output::EventType& type,
                                      const std::string& name) {
  const auto& fields = type.declaration.fields;
  const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& each) { return each.name == name; });
  if (field != fields.end()) return &*field;
  LT_CHECK(check_has_fields(option, {name}, type));
  return fail(EINVAL, fmt::format("{}: {} has no field '{}'", option, name_of(type), name));
}

Result<void> check_has_event(const std::string& option, const std::string& event, const Types& types) {
  std::vector<output::EventType> all;
  for (const auto& [id, type] : types) {
    if (name_of(type) == event) return {};
    all.push_back(type);
  }
  LT_TRY(const event::Pattern pattern, event::Pattern::parse(event));
  return fail(EINVAL, fmt::format("{}: the recording has no event '{}'{}", option, event,
                                  instead_text(pattern, names_of(all))));
}

}  // namespace

Result<output::SpanRule> parse_span(const std::string& text) {
  const std::vector<std::string> parts = split(text, ',');
  const bool has_empty = std::any_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); });
  if (parts.size() < 2 || parts.size() > 3 || has_empty) {
    return fail(EINVAL, fmt::format("--span '{}': want FROM,TO,KEY: two events and a field of both, or FROM,TO for "
                                    "what a thread begins and ends, nested like calls",
                                    text));
  }
  LT_CHECK(check_event_name("--span", parts[0]));
  LT_CHECK(check_event_name("--span", parts[1]));
  return output::SpanRule{full_event_name(parts[0]), full_event_name(parts[1]), parts.size() == 3 ? parts[2] : ""};
}

Result<output::CounterRule> parse_counter(const std::string& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == text.size()) {
    return fail(EINVAL, fmt::format("--counter '{}': want EVENT.FIELD", text));
  }
  LT_CHECK(check_event_name("--counter", text.substr(0, dot)));
  return output::CounterRule{full_event_name(text.substr(0, dot)), text.substr(dot + 1)};
}

Result<void> check_rules(const std::vector<output::SpanRule>& spans, const std::vector<output::CounterRule>& counters,
                         const output::EventType& type) {
  for (const output::SpanRule& span : spans) {
    const bool is_of_it = span.from == name_of(type) || span.to == name_of(type);
    if (is_of_it && !span.key.empty()) LT_CHECK(own_field("--span", type, span.key));
  }
  for (const output::CounterRule& counter : counters) {
    if (counter.event != name_of(type)) continue;
    LT_TRY(const event::Field* field, own_field("--counter", type, counter.field));
    if (!output::is_number(*field)) {
      return fail(EINVAL, fmt::format("--counter: {}.{} is no number", name_of(type), counter.field));
    }
  }
  return {};
}

// An event that was declared anew has a type for each.
Result<void> check_rules(const std::vector<output::SpanRule>& spans, const std::vector<output::CounterRule>& counters,
                         const Types& types) {
  for (const output::SpanRule& span : spans) {
    LT_CHECK(check_has_event("--span", span.from, types));
    LT_CHECK(check_has_event("--span", span.to, types));
  }
  for (const output::CounterRule& counter : counters) LT_CHECK(check_has_event("--counter", counter.event, types));
  for (const auto& [id, type] : types) LT_CHECK(check_rules(spans, counters, type));
  return {};
}

}  // namespace landtrace::cli
