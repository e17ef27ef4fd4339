// What `landtrace fleet` prints of a time that is over.
#pragma once

#include <string>

#include "fleet/history.hpp"

namespace landtrace::cli {

// "2026-11-24 10:30:00", where one is.
std::string moment_text(std::uint64_t time_ns);

// A line an order and event.
std::string orders_of_past_text(const fleet::History& history);
// Charts where the time is one slot, else a line for each slot and group.
Result<std::string> past_text(const fleet::History& history, std::size_t columns);
Result<std::string> past_json(const fleet::History& history);

// What is not in it, a sentence each. `from_ns`: what was asked for.
std::vector<std::string> past_notes(const fleet::History& history, std::uint64_t from_ns);

}  // namespace landtrace::cli
