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

// Where details stand: beside the names, or below them where the terminal is narrow.
class Place {
 public:
  explicit Place(std::size_t columns) {
    constexpr std::size_t kBeside = 31, kBelow = 4, kWide = 70, kLeast = 20;
    is_below_ = columns < kWide;
    indent_ = is_below_ ? kBelow : kBeside;
    room_ = std::max(columns - std::min(columns, indent_), kLeast);
  }

  void add(std::string& text, std::string names, const std::string& detail) const {
    if (is_below_) {
      names = trimmed_end(names);
      if (!names.empty()) text += names + '\n';
      names = "";
    }
    names.resize(indent_, ' ');
    for (const std::string& line : broken_lines(detail, room_, room_)) {
      text += names + line + '\n';
      names.assign(indent_, ' ');
    }
  }

 private:
  static std::string trimmed_end(const std::string& text) { return text.substr(0, text.find_last_not_of(' ') + 1); }

  bool is_below_;
  std::size_t indent_;
  std::size_t room_;
};

}  // namespace

bool can_record(const std::vector<Check>& checks) {
  return std::none_of(checks.begin(), checks.end(), [](const Check& check) {
    return check.group == std::string_view(kRecording) && check.state != State::kWorks;
  });
}

std::string human_text(const std::vector<Check>& checks, std::size_t columns) {
  std::string text;
  const Place place(columns);
  for (const char* group : {kRecording, kFiles, kMachine, kProbes, kDomains}) {
    text += fmt::format("{}\n", group);
    for (const Check& check : checks) {
      if (check.group != std::string_view(group)) continue;
      place.add(text, fmt::format("  {:<8} {:<19}", word_of(check.state), check.id), check.detail);
      if (!check.advice.empty()) place.add(text, fmt::format("  {:<8} {:<19}", "", ""), "-> " + check.advice);
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
