// The head of a `trace` file.
#pragma once

#include <cstdint>
#include <string>

namespace landtrace::output {

// What stands before an event, as trace_options has it.
struct TextColumns {
  bool context = true;     // context-info: anything at all before the event
  bool irq_info = true;    // irq-info: the five flag characters
  bool tgid = false;       // record-tgid
  bool time_in_ns = true;  // false for the counting clocks (counter, x86-tsc): their time is not in seconds
  bool latency = false;    // latency-format: columns of its own
  bool verbose = false;    // verbose: no legend, and longer columns with latency-format
};

// Appends the head, its legend included. `entries` are in the buffer now, `written` were ever.
void append_text_header(std::string& out, std::uint64_t entries, std::uint64_t written, std::uint32_t cpus,
                        const TextColumns& columns = {});

// The head of an empty buffer in latency-format, and of anything else that has none.
void append_tracer_line(std::string& out);

}  // namespace landtrace::output
