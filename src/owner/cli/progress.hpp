// How `landtrace record` reports its progress and its result on stderr.
#pragma once

#include <cstdint>
#include <string>

#include "consumer/collector.hpp"

namespace landtrace::cli {

// One line that is redrawn, where stderr is a terminal; nothing elsewhere.
class Progress {
 public:
  Progress();
  // Cheap to ask; true about four times a second.
  [[nodiscard]] bool is_due() const;
  void draw(std::uint64_t events, std::uint64_t lost, std::uint64_t bytes);
  // Removes the line.
  void clear();

 private:
  bool on_terminal_;
  bool drawn_ = false;
  std::uint64_t last_ns_;
  std::uint64_t last_events_ = 0;
};

// "1,000 events  50/s  0 lost  44.0 KiB", or less of it where there are fewer columns.
std::string progress_text(std::uint64_t events, std::uint64_t rate, std::uint64_t lost, std::uint64_t bytes,
                          std::size_t columns);

struct Summary {
  std::uint64_t written = 0;
  std::uint64_t unwritten = 0;  // read, but not written: the disk was full
  consumer::Totals totals;
  std::size_t processes = 0;
  std::string file;  // "": nobody is to be told
};
// "1,000 events, 20 lost (20 discarded), 1 program, 44.0 KiB in trace.dat"
std::string summary_text(const Summary& summary);

}  // namespace landtrace::cli
