// Commands that run for the page, each as a process of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "ui/command.hpp"

namespace landtrace::ui {

class Tasks {
 public:
  // `program` is landtrace; `socket` the domain's, "" where its commands are about none.
  // `patience`: of those that are interrupted at the end, before they are killed.
  Tasks(std::string program, std::string socket, std::chrono::milliseconds patience = std::chrono::seconds(10))
      : program_(std::move(program)), socket_(std::move(socket)), patience_(patience) {}
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;
  // Ends them.
  ~Tasks();

  // Its number. EAGAIN: too many run; else what starting it says.
  Result<unsigned> start(const CommandLine& line);
  // Interrupts it, as Ctrl-C would. ESRCH: there is none of that number.
  Result<void> stop(unsigned number);
  void stop_all();
  [[nodiscard]] bool is_empty() const { return tasks_.empty(); }

  // Takes what they have printed. True: there is news.
  bool look();
  // [{"number", "words", "isRunning", "status", "out", "err", "firstLine", "lines"}]: those of which there is news, or
  // all. `out` of one that lasts is its last line. `lines` of one that keeps them are the new ones, or all that are
  // kept: who was told all knows by `firstLine`, the number of the first one, which of the new ones these had.
  std::string news(bool all);

 private:
  static constexpr std::size_t kMostTasks = 8;      // that run
  static constexpr std::size_t kMostEnded = 16;     // that are still told of
  static constexpr std::size_t kMostOut = 1 << 20;  // bytes
  static constexpr std::size_t kMostLines = 400;    // that are kept
  static constexpr std::size_t kMostLine = 4096;    // bytes of one

  struct Task {
    CommandLine line;
    pid_t pid = 0;  // 0: it has ended
    int status = 0;
    Fd out_end;
    Fd err_end;
    std::string out;
    std::string err;
    std::string last_line;
    std::deque<std::string> lines;
    std::size_t new_lines = 0;
    std::uint64_t all_lines = 0;
    std::uint64_t unkept_lines = 0;  // that went before they were told
    bool is_too_long = false;
    bool has_news = true;
  };

  void read_out(Task& task);
  static void pass_over_last_words(Task& task);
  static void keep_last_line(Task& task);
  static void keep_lines(Task& task);
  static void append_lines(std::string& out, const Task& task, bool all);
  void end_of(Task& task);
  [[nodiscard]] std::size_t running() const;

  std::string program_;
  std::string socket_;
  std::chrono::milliseconds patience_;
  std::map<unsigned, Task> tasks_;
  unsigned next_ = 1;
};

}  // namespace landtrace::ui
