// The -e options of a command: which events are wanted.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "event/pattern.hpp"
#include "output/record.hpp"

namespace landtrace::reader {

class EventFilter {
 public:
  // EINVAL with a sentence for a bad pattern. Without any pattern everything is wanted.
  static Result<EventFilter> parse(const std::vector<std::string>& patterns);

  [[nodiscard]] bool wants(const output::EventType& type) const;
  [[nodiscard]] bool wants_all() const { return patterns_.empty(); }
  [[nodiscard]] const std::vector<event::Pattern>& patterns() const { return patterns_; }

 private:
  std::vector<event::Pattern> patterns_;
};

}  // namespace landtrace::reader
