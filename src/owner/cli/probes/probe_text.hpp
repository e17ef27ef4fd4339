// What -p and --function are given: "[NAME=]OBJECT:FUNCTION[+OFFSET][%return] [[ARG=]FETCH…]", as users of perf probe
// write it, with the arguments of uprobe_events. Or "[NAME=]usdt:[OBJECT:]PROVIDER:NAME [[ARG=]FETCH…]", also of -e.
// Instead of a function there may be a source line, FILE:LINE.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::cli {

struct ProbeText {
  std::string option;    // that it was given with
  std::string place;     // the first word as it was typed: what people call the probe
  std::string name;      // of the event; "": by the function
  std::string object;    // path or name; "": CMD's program
  // With +OFFSET; or a pattern of functions' names, FILE:LINE, or an offset in the file that begins with a digit.
  std::string function;
  bool is_return = false;
  std::string arguments;  // one space between two
  bool is_usdt = false;
  std::string provider;  // of a USDT place whose name is `function`

  // Of its event.
  [[nodiscard]] std::string group() const;
  // Of the events of a pattern in that object, unless they are given a name: no other probe's.
  static std::string group_of_many(std::string_view path);
  // What its definition says behind the object's path.
  [[nodiscard]] std::string place_in_object() const;
  // It means many functions.
  [[nodiscard]] bool is_pattern() const { return !is_usdt && function.find_first_of("*?[") != std::string::npos; }
  // What its event is called if the name is free.
  [[nodiscard]] std::string event_name() const;
};

// "usdt:…", which is no event of that system.
bool is_usdt_text(const std::string& text);

// EINVAL for what is none.
Result<ProbeText> parse_probe(const std::string& option, const std::string& text);

}  // namespace landtrace::cli
