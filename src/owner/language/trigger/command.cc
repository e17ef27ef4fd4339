#include "language/trigger/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/input.hpp"
#include "language/words.hpp"

namespace landtrace::language {
namespace {

struct Named {
  std::string_view name;
  TriggerKind kind;
  TriggerFamily family;
};
constexpr std::array kNames{
    Named{"traceon", TriggerKind::kTraceOn, TriggerFamily::kTracing},
    Named{"traceoff", TriggerKind::kTraceOff, TriggerFamily::kTracing},
    Named{"snapshot", TriggerKind::kSnapshot, TriggerFamily::kSnapshot},
    Named{"stacktrace", TriggerKind::kStackTrace, TriggerFamily::kStackTrace},
    Named{"enable_event", TriggerKind::kEnableEvent, TriggerFamily::kEnabling},
    Named{"disable_event", TriggerKind::kDisableEvent, TriggerFamily::kEnabling},
    Named{"enable_hist", TriggerKind::kEnableHist, TriggerFamily::kHistEnabling},
    Named{"disable_hist", TriggerKind::kDisableHist, TriggerFamily::kHistEnabling},
    Named{"hist", TriggerKind::kHist, TriggerFamily::kHist},
};

const Named& entry_of(TriggerKind kind) {
  return *std::find_if(kNames.begin(), kNames.end(), [&](const Named& entry) { return entry.kind == kind; });
}

std::optional<std::string_view> unless_blank(std::optional<std::string_view> text) {
  if (text) text = skip_spaces(*text);
  return text && !text->empty() ? text : std::nullopt;
}

std::optional<std::string> owned(std::optional<std::string_view> text) {
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

tl::unexpected<Error> no_target(std::string_view name) {
  return fail(EINVAL, fmt::format("want {}:SYSTEM:EVENT", name));
}

}  // namespace

std::string_view name_of(TriggerKind kind) { return entry_of(kind).name; }
TriggerFamily family_of(TriggerKind kind) { return entry_of(kind).family; }

Result<TriggerCommand> parse_trigger(std::string_view text) {
  std::optional<std::string_view> rest = trimmed(until_nul(text));
  TriggerCommand command;
  std::string_view name = take_until(rest, ": \t");
  rest = unless_blank(rest);
  command.removes = name.starts_with('!');
  if (command.removes) name.remove_prefix(1);
  const auto* const entry =
      std::find_if(kNames.begin(), kNames.end(), [&](const Named& candidate) { return candidate.name == name; });
  if (entry == kNames.end()) return fail(EINVAL, fmt::format("'{}' is no trigger", name));
  command.kind = entry->kind;

  if (entry->family == TriggerFamily::kHist) {
    if (!rest) return fail(EINVAL, "want hist:keys=FIELD");
    command.definition = *rest;
    return command;
  }
  const bool wants_target = has_target(entry->family);
  if (!rest) return wants_target ? Result<TriggerCommand>(no_target(name)) : Result<TriggerCommand>(std::move(command));
  if (!wants_target && !is_digit(rest->front())) {
    command.condition = owned(rest);
    return command;
  }
  std::optional<std::string_view> parameter = take_until(rest, " \t");
  command.condition = owned(unless_blank(rest));
  if (wants_target) {
    command.system = take_until(parameter, ":");
    if (!parameter) return no_target(name);
    command.event = take_until(parameter, ":");
    if (command.event.empty()) return no_target(name);
  }
  command.count = owned(parameter);
  return command;
}

Result<std::int64_t> trigger_count(const TriggerCommand& command) {
  if (!command.count) return kUnlimited;
  std::optional<std::string_view> text = *command.count;
  LT_TRY(const std::uint64_t number, number_in(take_until(text, ":")));
  return static_cast<std::int64_t>(number);
}

Result<std::string> trigger_filter(const TriggerCommand& command) {
  if (!command.condition) return std::string();
  std::optional<std::string_view> rest = *command.condition;
  if (take_until(rest, " \t") != "if" || !rest) return fail(EINVAL, "want 'if' and a filter behind the trigger");
  return std::string(*rest);
}

std::string trigger_line(const TriggerCommand& command, std::int64_t left, std::string_view filter) {
  std::string text(name_of(command.kind));
  if (!command.event.empty()) text += fmt::format(":{}:{}", command.system, command.event);
  text += left == kUnlimited ? ":unlimited" : fmt::format(":count={}", left);
  if (!filter.empty()) text += fmt::format(" if {}", filter);
  return text += '\n';
}

std::string no_trigger_text() {
  return "# Available triggers:\n"
         "# traceon traceoff snapshot stacktrace enable_event disable_event enable_hist disable_hist hist\n";
}

}  // namespace landtrace::language
