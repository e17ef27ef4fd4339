// The whole text of a `trace` or `snapshot`, made while it is read.
#pragma once

#include <optional>

#include "tracefs/trace/trace_instance.hpp"

namespace landtrace::tracefs {

class TraceText {
 public:
  TraceText(TraceInstance& instance, std::uint32_t cpu, bool is_snapshot, bool latency);

  // Up to to.size() bytes from `offset` on; 0 is the end. A smaller offset begins a new reading, of what is there then.
  std::size_t read(std::span<char> to, std::uint64_t offset);

 private:
  void restart();
  void append_head(buffer::Contents* contents);
  void drop_until(std::uint64_t offset);

  TraceInstance& instance_;
  std::uint32_t cpu_;
  bool is_snapshot_;
  bool latency_;
  std::unique_ptr<buffer::Reading> reading_;
  std::optional<buffer::Lines> lines_;
  std::string text_;               // the part that was made last
  std::uint64_t text_offset_ = 0;  // its place in the whole text
  bool is_started_ = false;
};

}  // namespace landtrace::tracefs
