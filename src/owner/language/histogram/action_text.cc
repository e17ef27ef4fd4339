#include "language/histogram/action_text.hpp"

#include "base/input.hpp"
#include "language/words.hpp"

namespace landtrace::language {
namespace {

constexpr std::size_t kMinParam = 2;  // characters; the kernel's

using Text = std::optional<std::string_view>;

Result<void> parse_params(std::string_view text, ActionText& action, HistComplaints& complaints) {
  bool is_name = action.has_keyword;
  for (const std::string_view part : parts_of(text, ',')) {
    if (action.params.size() == hist::kMaxParams) return complaints.refuse(HistMistake::kTooManyParams);
    const std::string_view param = trimmed(part);
    if (param.size() < kMinParam) return complaints.refuse(HistMistake::kInvalidParam, param);
    if (is_name) {
      action.synthetic = param;
    } else {
      action.params.emplace_back(param);
    }
    is_name = false;
  }
  return {};
}

// What is to be done: "ANYTHING.NAME(PARAMS)", behind the handler's parenthesis.
Result<void> parse_deed(Text rest, ActionText& action, HistComplaints& complaints) {
  take_until(rest, ".");
  if (!rest) return complaints.refuse(HistMistake::kActionNotFound);
  action.name = take_until(rest, "(");
  if (!rest) return complaints.refuse(HistMistake::kActionNotFound);
  const std::string_view params = take_until(rest, ")");
  const bool tracks = action.handler != hist::Handler::kOnMatch;
  if (action.name.starts_with("save")) {
    action.deed = hist::Deed::kSave;
    LT_CHECK(parse_params(params, action, complaints));
    if (!tracks) return complaints.refuse(HistMistake::kActionMismatch, action.name);
  } else if (action.name.starts_with("snapshot")) {
    action.deed = hist::Deed::kSnapshot;
    if (!rest) return complaints.refuse(HistMistake::kNoClosingParen, params);
    if (!tracks) return complaints.refuse(HistMistake::kActionMismatch, action.name);
  } else {
    action.deed = hist::Deed::kTrace;
    action.has_keyword = action.name.starts_with("trace");
    LT_CHECK(parse_params(params, action, complaints));
    if (!action.has_keyword) action.synthetic = action.name;
  }
  return {};
}

Result<ActionText> parse_match(Text rest, const EventExists& exists, HistComplaints& complaints) {
  ActionText action;
  Text event = take_until(rest, ")");
  if (!rest) return complaints.refuse(HistMistake::kNoClosingParen, *event);
  action.match_system = take_until(event, ".");
  if (!event) return complaints.refuse(HistMistake::kSubsystemMissing, action.match_system);
  action.match_event = *event;
  if (!exists(action.match_system, action.match_event)) return complaints.refuse(HistMistake::kInvalidEvent, *event);
  LT_CHECK(parse_deed(rest, action, complaints));
  return action;
}

Result<ActionText> parse_tracking(hist::Handler handler, Text rest, HistComplaints& complaints) {
  ActionText action;
  action.handler = handler;
  action.tracked = take_until(rest, ")");
  if (!rest) return fail(EINVAL, "want a closing parenthesis behind " + action.tracked);
  LT_CHECK(parse_deed(rest, action, complaints));
  return action;
}

}  // namespace

Result<ActionText> parse_action(std::string_view text, const EventExists& exists, HistComplaints& complaints) {
  Text rest = text;
  const std::string_view handler = take_until(rest, "(");
  if (!rest) return fail(EINVAL, "want a parenthesis behind the handler");
  if (handler == "onmatch") return parse_match(rest, exists, complaints);
  return parse_tracking(handler == "onmax" ? hist::Handler::kOnMax : hist::Handler::kOnChange, rest, complaints);
}

}  // namespace landtrace::language
