// Names as perf reads them. Its parser of descriptions knows those of C alone, and refuses a file for any other; the
// kernel's user_events take nearly all characters.
#pragma once

#include <map>
#include <set>
#include <string>

#include "output/record.hpp"

namespace landtrace::output::perf_data {

class Names {
 public:
  // The event with what is no letter, digit or _ in its names as _. Those that become alike get a further _, fields of
  // an event and events of a system; an event's name stays what it was the first time.
  EventType readable(const EventType& type);

 private:
  std::map<std::string, std::string> given_;  // by SYSTEM:EVENT
  std::set<std::string> used_;
};

}  // namespace landtrace::output::perf_data
