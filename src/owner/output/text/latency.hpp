// Lines with the columns of the option latency-format.
#pragma once

#include <string>

#include "output/record.hpp"
#include "output/text/header.hpp"

namespace landtrace::output {

// Where a line stands among the others.
struct LinePlace {
  std::uint64_t index = 0;     // of the line
  std::uint64_t start_ns = 0;  // times count from here: when the buffer was cleared
  std::uint64_t next_ns = 0;   // time of the next event; of the last event its own time
};

// Appends the columns:
//
//       app-1234      3..... 12345678us+:
void append_latency_context(std::string& out, const Record& record, const Task* task, const LinePlace& place,
                            const TextColumns& columns);

}  // namespace landtrace::output
