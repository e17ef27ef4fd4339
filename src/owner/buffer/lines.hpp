// The lines of a `trace` or `trace_pipe`, one record at a time.
#pragma once

#include <bitset>
#include <string>
#include <vector>

#include "buffer/printer.hpp"

namespace landtrace::buffer {

class Lines {
 public:
  struct Options {
    // Announce a CPU whose first event comes after those of others.
    bool annotate = false;
    // Show how long it took to the next event (latency-format). No other reader may use the merge.
    bool look_ahead = false;
    // Times of latency-format count from here.
    std::uint64_t start_ns = 0;
  };
  explicit Lines(const Options& options) : options_(options) {}

  // Takes the next record and appends its line, after a line about events that are missing before it. False: there is
  // no record.
  bool append_next(std::string& out, Merge& merge, Printer& printer, const TextStyle& style);
  // Appends what is missing after the last record.
  static void append_rest(std::string& out, Merge& merge);

 private:
  void announce_cpu(std::string& out, std::uint32_t cpu);
  void append_with_delay(std::string& out, Merge& merge, Printer& printer, const TextStyle& style,
                         const Merge::Source& source);

  Options options_;
  std::uint64_t index_ = 0;
  std::vector<bool> started_;       // by CPU
  std::vector<std::byte> payload_;  // of the record whose successor is looked for
};

}  // namespace landtrace::buffer
