// What `landtrace record` is told about events: -e and -p, and the --filter and --trigger that belong to them.
#pragma once

#include "cli/command_line.hpp"
#include "consumer/session.hpp"
#include "reader/filter_mistake.hpp"

namespace landtrace::cli {

inline constexpr const char* kUserEvents = "user_events:*";

// A filter or trigger behind a pattern applies to its events; one before any pattern applies to all events. Of several
// filters, all must be true.
class EventRules {
 public:
  // `all`: the pattern where none is added.
  explicit EventRules(const char* all = kUserEvents) : all_pattern_(all) {}

  void add_pattern(const std::string& pattern);
  // A probe, whose event has no name yet: its pattern is the text until then.
  void add_probe(const std::string& text);
  void add_filter(const std::string& filter);
  void add_trigger(const std::string& trigger);

  [[nodiscard]] const char* all_pattern() const { return all_pattern_; }
  [[nodiscard]] std::vector<consumer::Session::Selection> selections() const;
  // Which of the selections are probes: of -p, or "usdt:…" of -e.
  [[nodiscard]] const std::vector<std::size_t>& probes() const { return probes_; }

 private:
  consumer::Session::Selection& last();

  const char* all_pattern_;
  consumer::Session::Selection all_;               // what comes before any pattern
  std::vector<consumer::Session::Selection> own_;  // one a pattern
  std::vector<std::size_t> probes_;                // … of which these are probes
};

// Adds -e, -p, --filter and --trigger, which `rules` then has.
void add_event_options(Command& command, EventRules& rules);

// EINVAL for an invalid pattern, filter or trigger: a sentence and, in lines of their own, the text and a caret below
// the mistake.
Result<void> check_event_rules(const std::vector<consumer::Session::Selection>& selections);

// What is wrong with the value of an option.
using reader::point_at_filter;
using reader::pointed_at;
// EINVAL for what can be no filter of any event.
Result<void> check_filter(const std::string& text);

// "the filter 'n > 5' ...": for the end of a recording.
std::string unfit_text(const consumer::Session::Unfit& unfit);

}  // namespace landtrace::cli
