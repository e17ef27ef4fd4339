// `-e` patterns: "SYSTEM:EVENT", each part a glob; a pattern without a colon names an event or a system.
#pragma once

#include <string>

#include "base/result.hpp"

namespace landtrace::event {

class Pattern {
 public:
  // EINVAL with a sentence for an empty part or a glob whose bracket does not close.
  static Result<Pattern> parse(std::string_view text);

  [[nodiscard]] bool matches(const std::string& system, const std::string& name) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::string system_;  // empty: the pattern had no colon
  std::string event_;
};

}  // namespace landtrace::event
