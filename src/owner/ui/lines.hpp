// What comes out of trace_pipe, counted: how often each event, by which thread of which program, how many were lost;
// and its last lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ui/line_parts.hpp"
#include "ui/recent.hpp"
#include "ui/timeline.hpp"

namespace landtrace::ui {

class Lines {
 public:
  // The next bytes. A line that is not whole waits for its rest.
  void add(std::string_view bytes);

  // As JSON, without the braces around it: counts since the beginning, of what has changed since the last time, and the
  // newest lines since then. With `all` the counts of everything and all lines that are kept.
  std::string news(bool all);
  [[nodiscard]] bool has_news() const { return has_news_; }

  [[nodiscard]] const Recent& recent() const { return recent_; }
  // Of a thread that has been heard of lately.
  [[nodiscard]] ThreadName name_of(std::int32_t tid) const;

 private:
  static constexpr std::size_t kKept = 200;        // lines
  static constexpr std::size_t kNews = 60;         // lines in one message
  static constexpr std::size_t kMostNames = 4096;  // events and threads that are told apart

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct Kind {
    std::string name;
    std::uint64_t count = 0;
    bool has_changed = false;
  };
  struct Thread {
    std::string comm;
    std::int32_t tgid = 0;
    std::uint64_t count = 0;
    std::uint64_t last_us = 0;
    std::vector<std::pair<std::uint32_t, std::uint64_t>> kinds;  // and how often each
    bool has_changed = false;
  };

  void add_line(std::string_view line);
  std::uint32_t kind_of(std::string_view name);
  Thread& thread_of(std::int32_t tid);
  void add_kinds(std::string& out, bool all) const;
  void add_threads(std::string& out, bool all) const;

  std::string partial_;
  std::vector<Kind> kinds_{{"other events"}};  // the first is for those behind kMostNames
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> kind_by_name_;
  std::unordered_map<std::int32_t, Thread> threads_;
  Recent recent_;
  std::size_t new_lines_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t lost_ = 0;
  bool has_news_ = false;
};

}  // namespace landtrace::ui
