#include "cli/event_rules.hpp"

#include <fmt/format.h>

#include "cli/probes/probe_text.hpp"
#include "event/pattern.hpp"
#include "language/filter/compile.hpp"
#include "language/trigger/command.hpp"

namespace landtrace::cli {
namespace {

using consumer::Session;

void add_filter(Session::Selection& selection, const std::string& filter) {
  selection.filter = selection.filter.empty() ? filter : fmt::format("({}) && ({})", selection.filter, filter);
}

// The rules for all events come before those of the pattern, as if they had been written behind each pattern first.
Session::Selection joined(const Session::Selection& all, const Session::Selection& own) {
  Session::Selection both{own.pattern, all.filter, all.triggers};
  if (!own.filter.empty()) add_filter(both, own.filter);
  both.triggers.insert(both.triggers.end(), own.triggers.begin(), own.triggers.end());
  return both;
}

tl::unexpected<Error> bad_trigger(const std::string& text, const Error& error) {
  return fail(EINVAL,
              fmt::format("--trigger: {}: {}", text, error.message.empty() ? errno_text(error.code) : error.message));
}

Result<void> check_trigger(const std::string& text) {
  const auto command = language::parse_trigger(text);
  if (!command) return bad_trigger(text, command.error());
  if (command->removes) return bad_trigger(text, Error(EINVAL, "a recording begins without triggers"));
  if (command->kind == language::TriggerKind::kSnapshot) {
    return bad_trigger(text, Error(EINVAL,
                                   "a recording has no snapshot; the instances of `landtrace run --tracefs` and "
                                   "`landtrace mount` have one, and --overwrite keeps the newest events"));
  }
  if (const auto count = trigger_count(*command); !count) return bad_trigger(text, count.error());
  const auto condition = trigger_filter(*command);
  if (!condition) return bad_trigger(text, condition.error());
  if (condition->empty()) return {};
  const auto checked = language::check_filter(*condition);
  if (!checked) return point_at_filter("--trigger", std::string(text), *condition, checked.error());
  return {};
}

std::string excerpt(const std::string& rule) { return rule.size() <= 80 ? rule : rule.substr(0, 77) + "..."; }

}  // namespace

void EventRules::add_pattern(const std::string& pattern) {
  if (is_usdt_text(pattern)) return add_probe(pattern);
  own_.push_back({.pattern = pattern});
}

void EventRules::add_probe(const std::string& text) {
  probes_.push_back(own_.size());
  own_.push_back({.pattern = text});
}

void EventRules::add_filter(const std::string& filter) { cli::add_filter(last(), filter); }

void EventRules::add_trigger(const std::string& trigger) { last().triggers.push_back(trigger); }

Session::Selection& EventRules::last() { return own_.empty() ? all_ : own_.back(); }

std::vector<Session::Selection> EventRules::selections() const {
  if (own_.empty()) return {{all_pattern_, all_.filter, all_.triggers}};
  std::vector<Session::Selection> selections;
  for (const Session::Selection& own : own_) selections.push_back(joined(all_, own));
  return selections;
}

Result<void> check_filter(const std::string& text) {
  if (const auto checked = language::check_filter(text); !checked) {
    return point_at_filter("--filter", text, text, checked.error());
  }
  return {};
}

void add_event_options(Command& command, EventRules& rules) {
  command.in_order("-e,--event", [&rules](const std::string& pattern) { rules.add_pattern(pattern); },
                   "SYSTEM:EVENT to record, or usdt:PROVIDER:NAME, globs allowed; may be repeated",
                   {.type = "PATTERN", .default_text = rules.all_pattern()});
  command.in_order("-p,--probe", [&rules](const std::string& probe) { rules.add_probe(probe); },
                   "Record calls of a function, with %return its returns; may be repeated",
                   {.type = "'OBJECT:FUNCTION[%return] [NAME=FETCH]...'"});
  command.in_order("--filter", [&rules](const std::string& filter) { rules.add_filter(filter); },
                   "Record those of the -e or -p before that EXPR is true of; before any: of all", {.type = "EXPR"});
  command.in_order("--trigger", [&rules](const std::string& trigger) { rules.add_trigger(trigger); },
                   "What the events of the -e or -p before do, as in a trigger file; before any: of all",
                   {.type = "TRIGGER"});
}

Result<void> check_event_rules(const std::vector<Session::Selection>& selections) {
  for (const Session::Selection& selection : selections) {
    LT_CHECK(event::Pattern::parse(selection.pattern));
    if (!selection.filter.empty()) LT_CHECK(check_filter(selection.filter));
    for (const std::string& trigger : selection.triggers) LT_CHECK(check_trigger(trigger));
  }
  return {};
}

std::string unfit_text(const Session::Unfit& unfit) {
  return unfit.is_trigger
             ? fmt::format("{} did not have the trigger '{}': {}", unfit.event, excerpt(unfit.rule), unfit.reason)
             : fmt::format("the filter '{}' does not fit {} ({}): all of its events were recorded", excerpt(unfit.rule),
                           unfit.event, unfit.reason);
}

}  // namespace landtrace::cli
