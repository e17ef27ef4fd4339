#include "hist/action_text.hpp"

#include "base/input.hpp"
#include "hist/words.hpp"

namespace landtrace::hist {
namespace {

constexpr std::size_t kMinParam = 2;  // characters; the kernel's

using Text = std::optional<std::string_view>;

Result<void> parse_params(std::string_view text, ActionText& action, Complaints& complaints) {
  bool is_name = action.has_keyword;
  for (const std::string_view part : parts_of(text, ',')) {
    if (action.params.size() == kMaxParams) return complaints.refuse(Mistake::kTooManyParams);
    const std::string_view param = trimmed(part);
    if (param.size() < kMinParam) return complaints.refuse(Mistake::kInvalidParam, param);
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
Result<void> parse_deed(Text rest, ActionText& action, Complaints& complaints) {
  take_until(rest, ".");
  if (!rest) return complaints.refuse(Mistake::kActionNotFound);
  action.name = take_until(rest, "(");
  if (!rest) return complaints.refuse(Mistake::kActionNotFound);
  const std::string_view params = take_until(rest, ")");
  const bool tracks = action.handler != Handler::kOnMatch;
  if (action.name.starts_with("save")) {
    action.deed = Deed::kSave;
    LT_CHECK(parse_params(params, action, complaints));
    if (!tracks) return complaints.refuse(Mistake::kActionMismatch, action.name);
  } else if (action.name.starts_with("snapshot")) {
    action.deed = Deed::kSnapshot;
    if (!rest) return complaints.refuse(Mistake::kNoClosingParen, params);
    if (!tracks) return complaints.refuse(Mistake::kActionMismatch, action.name);
  } else {
    action.deed = Deed::kTrace;
    action.has_keyword = action.name.starts_with("trace");
    LT_CHECK(parse_params(params, action, complaints));
    if (!action.has_keyword) action.synthetic = action.name;
  }
  return {};
}

Result<ActionText> parse_match(Text rest, const EventExists& exists, Complaints& complaints) {
  ActionText action;
  Text event = take_until(rest, ")");
  if (!rest) return complaints.refuse(Mistake::kNoClosingParen, *event);
  action.match_system = take_until(event, ".");
  if (!event) return complaints.refuse(Mistake::kSubsystemMissing, action.match_system);
  action.match_event = *event;
  if (!exists(action.match_system, action.match_event)) return complaints.refuse(Mistake::kInvalidEvent, *event);
  LT_CHECK(parse_deed(rest, action, complaints));
  return action;
}

Result<ActionText> parse_tracking(Handler handler, Text rest, Complaints& complaints) {
  ActionText action;
  action.handler = handler;
  action.tracked = take_until(rest, ")");
  if (!rest) return fail(EINVAL, "want a closing parenthesis behind " + action.tracked);
  LT_CHECK(parse_deed(rest, action, complaints));
  return action;
}

}  // namespace

Result<ActionText> parse_action(std::string_view text, const EventExists& exists, Complaints& complaints) {
  Text rest = text;
  const std::string_view handler = take_until(rest, "(");
  if (!rest) return fail(EINVAL, "want a parenthesis behind the handler");
  if (handler == "onmatch") return parse_match(rest, exists, complaints);
  return parse_tracking(handler == "onmax" ? Handler::kOnMax : Handler::kOnChange, rest, complaints);
}

}  // namespace landtrace::hist
