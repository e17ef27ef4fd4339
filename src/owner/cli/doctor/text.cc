#include <fmt/format.h>

#include <algorithm>

#include "cli/doctor/check.hpp"
#include "output/json/string.hpp"

namespace landtrace::cli::doctor {
namespace {

const char* word_of(State state) {
  switch (state) {
    case State::kWorks:
      return "ok";
    case State::kMissing:
      return "missing";
    case State::kAbsent:
      return "none";
  }
  return "";
}

std::string quoted(const std::string& text) {
  std::string out;
  output::json::append_string(out, text);
  return out;
}

}  // namespace

bool can_record(const std::vector<Check>& checks) {
  return std::none_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.group == std::string_view(kRecording) && check.state != State::kWorks;
  });
}

std::string human_text(const std::vector<Check>& checks) {
  std::string text;
  for (const char* group : {kRecording, kFiles, kMachine, kDomains}) {
    text += fmt::format("{}\n", group);
    for (const Check& check : checks) {
      if (check.group != std::string_view(group)) continue;
      text += fmt::format("  {:<8} {:<19} {}\n", word_of(check.state), check.id, check.detail);
      if (!check.advice.empty()) text += fmt::format("  {:<8} {:<19} -> {}\n", "", "", check.advice);
    }
  }
  return text + (can_record(checks) ? "Recording works here.\n" : "Recording does not work here.\n");
}

std::string json_text(const std::vector<Check>& checks) {
  std::string text = fmt::format("{{\"version\":{},\"recording\":{},\"checks\":[", quoted(LANDTRACE_VERSION),
                                 can_record(checks) ? "true" : "false");
  for (const Check& check : checks) {
    text += fmt::format("{}\n{{\"group\":{},\"id\":{},\"state\":{},\"detail\":{},\"advice\":{}}}",
                        &check == &checks.front() ? "" : ",", quoted(check.group), quoted(check.id),
                        quoted(word_of(check.state)), quoted(check.detail), quoted(check.advice));
  }
  return text + "\n]}\n";
}

}  // namespace landtrace::cli::doctor
