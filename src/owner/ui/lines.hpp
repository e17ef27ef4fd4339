// What comes out of trace_pipe, counted: how often each event, by which program, how many were lost; and its last
// lines.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace landtrace::ui {

class Lines {
 public:
  // The next bytes. A line that is not whole waits for its rest.
  void add(std::string_view bytes);

  // As JSON, without the braces around it: counts since the beginning, of what has changed since the last time, and the
  // newest lines since then. With `all` the counts of everything and all lines that are kept.
  std::string news(bool all);
  [[nodiscard]] bool has_news() const { return has_news_; }

 private:
  static constexpr std::size_t kKept = 200;        // lines
  static constexpr std::size_t kNews = 60;         // lines in one message
  static constexpr std::size_t kMostNames = 4096;  // events and programs that are told apart

  struct Program {
    std::string comm;
    std::uint64_t count = 0;
  };

  void add_line(std::string_view line);

  std::string partial_;
  std::map<std::string, std::uint64_t, std::less<>> events_;  // by name
  std::map<std::int32_t, Program> programs_;                  // by thread
  std::set<std::string, std::less<>> changed_events_;
  std::set<std::int32_t> changed_programs_;
  std::deque<std::string> kept_;
  std::size_t new_lines_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t lost_ = 0;
  bool has_news_ = false;
};

}  // namespace landtrace::ui
