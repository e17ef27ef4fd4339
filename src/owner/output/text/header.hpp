// The head of a `trace` file.
#pragma once

#include <cstdint>
#include <string>

namespace landtrace::output {

inline constexpr std::uint64_t kNsPerUs = 1'000;

// The columns before an event, from trace_options.
struct TextColumns {
  bool context = true;          // context-info: anything at all before the event
  bool irq_info = true;         // irq-info: the five flag characters
  bool tgid = false;            // record-tgid
  std::uint64_t origin_ns = 0;  // times are shown from here on; a time before it as 0
  bool time_in_ns = true;       // false for the counting clocks (counter, x86-tsc): their time is not in seconds
  bool latency = false;         // latency-format: columns of its own
  bool verbose = false;         // verbose: no legend, and longer columns with latency-format
};

// Appends the head with its legend. `entries` events are in the buffer, of `written` that were ever recorded.
void append_text_header(std::string& out, std::uint64_t entries, std::uint64_t written, std::uint32_t cpus,
                        const TextColumns& columns = {});

// "# tracer: nop", with which every head begins. The head of an empty buffer in latency-format has nothing else.
void append_tracer_line(std::string& out);

}  // namespace landtrace::output
