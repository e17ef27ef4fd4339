// The lines of an instance's error_log: why the last commands were refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace landtrace::tracefs {

struct LoggedError {
  std::string where;         // "event filter parse error", "hist:user_events:e1", …
  std::string what;          // the sentence
  std::string command;       // as it was given
  std::size_t position = 0;  // of the caret below it
};

class LoggedErrors {
 public:
  // Drops the oldest beyond the number that the kernel keeps.
  void add(LoggedError error);
  void clear() { entries_.clear(); }
  // As the file shows it.
  [[nodiscard]] std::string text() const;

 private:
  struct Entry {
    std::uint64_t time_ns;
    LoggedError error;
  };
  std::deque<Entry> entries_;
};

}  // namespace landtrace::tracefs
