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
    bool annotate = false;       // say where a CPU's first event comes after others
    bool look_ahead = false;     // the columns tell how long it took to the next event; the merge is this reader's own
    std::uint64_t start_ns = 0;  // times of latency-format count from here
  };
  explicit Lines(const Options& options) : options_(options) {}

  // Appends the next record's line, and before it what is missing; and takes it. False: none is there.
  bool append_next(std::string& out, Merge& merge, Printer& printer, const TextStyle& style);
  // What is missing behind the last record.
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
