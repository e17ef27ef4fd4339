// A definition of many probes in one line, which is ours:
//
//   p:GROUP/* PATH:PATTERN …   an event for each function that fits the pattern, called like the function
//   p:GROUP/* MOD:PATTERN …    the same in kprobe_events
//
// PATTERN has *, ? or [ in it as a shell's; of a PATH it may be a name. The kernel takes no such name of an event.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "language/probe/function_probe.hpp"

namespace landtrace::language {

// Functions that one definition may mean.
inline constexpr std::size_t kMostOfPattern = 4096;

// It may mean several functions.
bool is_name_pattern(std::string_view text);

struct ProbePattern {
  // nullopt: the line defines one event, or none.
  static std::optional<ProbePattern> parse(ProbeFamily family, std::string_view line);

  ProbeFamily family = ProbeFamily::kUprobe;
  std::string group;
  std::string front;   // "p:g/", before the name
  std::string object;  // PATH or MOD
  std::string pattern;
  std::string suffix;     // "%return", "(0x10)"
  std::string arguments;  // " a=%di"
  bool is_return = false;

  // The definition of the event `event` for one of the functions.
  [[nodiscard]] std::string line(std::string_view function, std::string_view event) const;
  // Where in the line that was written something is that is at `position` in line(function, event).
  [[nodiscard]] std::size_t position(std::size_t position, std::string_view function, std::string_view event) const;
  [[nodiscard]] std::size_t pattern_at() const { return front.size() + 2 + object.size() + 1; }
};

// Names of events for functions, in one group: the functions' own with what no name can have left out, and with a
// number where several are the same then.
class ProbeEventNames {
 public:
  std::string name_of(std::string_view function);

 private:
  std::set<std::string> used_;
  std::map<std::string, unsigned> numbers_;
};

}  // namespace landtrace::language
