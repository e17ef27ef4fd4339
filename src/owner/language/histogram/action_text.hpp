// An action of a histogram as it is written: onmatch(SYSTEM.EVENT).WHAT(…), onmax($VARIABLE).WHAT(…), onchange(…)….
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hist/layout.hpp"
#include "language/histogram/mistakes.hpp"

namespace landtrace::language {

struct ActionText {
  hist::Handler handler = hist::Handler::kOnMatch;
  hist::Deed deed = hist::Deed::kTrace;
  std::string name;          // as written: "trace", "save", "snapshot", or a synthetic event's
  bool has_keyword = false;  // "trace": the synthetic event is the first parameter
  std::string synthetic;
  std::string match_system;  // of onmatch
  std::string match_event;
  std::string tracked;  // of the others, with its '$'
  std::vector<std::string> params;

  friend bool operator==(const ActionText&, const ActionText&) = default;
};

// Whether there is an event of that name.
using EventExists = std::function<bool(std::string_view system, std::string_view name)>;

// `text` begins with one of the handlers' names and a parenthesis. EINVAL.
Result<ActionText> parse_action(std::string_view text, const EventExists& exists, HistComplaints& complaints);

}  // namespace landtrace::language
