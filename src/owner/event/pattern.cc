#include "event/pattern.hpp"

#include <fnmatch.h>

#include <algorithm>

namespace landtrace::event {
namespace {

bool brackets_close(std::string_view glob) {
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '\\') {
      ++i;
    } else if (glob[i] == '[') {
      std::size_t end = i + 1;
      if (end < glob.size() && (glob[end] == '!' || glob[end] == '^')) ++end;
      end = glob.find(']', std::min(end + 1, glob.size()));  // a ']' right after '[' is a member
      if (end == std::string_view::npos) return false;
      i = end;
    }
  }
  return true;
}

bool glob_matches(const std::string& glob, const std::string& text) {
  return ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

}  // namespace

Result<Pattern> Pattern::parse(std::string_view text) {
  const auto bad = [&](const char* why) {
    return fail(EINVAL, "pattern '" + std::string(text) + "': " + why + " (want SYSTEM:EVENT, globs allowed)");
  };
  Pattern pattern;
  pattern.text_ = text;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    pattern.event_ = text;
  } else {
    pattern.system_ = text.substr(0, colon);
    pattern.event_ = text.substr(colon + 1);
    if (pattern.system_.empty()) return bad("nothing before the colon");
    if (pattern.event_.empty()) pattern.event_ = "*";  // as in set_event: "SYSTEM:" is all of it
  }
  if (pattern.event_.empty()) return bad("it is empty");
  if (text.find_first_of(" \t\n;") != std::string_view::npos) return bad("it holds a space or a semicolon");
  if (!brackets_close(pattern.system_) || !brackets_close(pattern.event_)) return bad("a '[' that no ']' closes");
  return pattern;
}

bool Pattern::matches(const std::string& system, const std::string& name) const {
  if (system_.empty()) return glob_matches(event_, name) || glob_matches(event_, system);
  return glob_matches(system_, system) && glob_matches(event_, name);
}

}  // namespace landtrace::event
