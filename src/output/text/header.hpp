// The head of a `trace` file.
#pragma once

#include <cstdint>
#include <string>

namespace landtrace::output {

// Which columns stand before an event, as trace_options has them.
struct TextColumns {
  bool context = true;     // context-info: anything at all before the event
  bool irq_info = true;    // irq-info: the five flag characters
  bool tgid = false;       // record-tgid
  bool time_in_ns = true;  // false for the counting clocks (counter, x86-tsc): their time is not in seconds
};

// Appends the head, its legend included. `entries` are in the buffer now, `written` were ever.
void append_text_header(std::string& out, std::uint64_t entries, std::uint64_t written, std::uint32_t cpus,
                        const TextColumns& columns = {});

}  // namespace landtrace::output
