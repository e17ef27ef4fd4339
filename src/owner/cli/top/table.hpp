// What `landtrace top-functions` shows: the functions that were called, those that matter most first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/distribution.hpp"
#include "cli/terminal.hpp"
#include "cli/top/function_set.hpp"
#include "ipc/histogram_table.hpp"

namespace landtrace::cli {

enum class TopOrder : std::uint8_t { kCalls, kTotal, kMean, kMax };

struct TopRow {
  const TopFunction* function = nullptr;
  std::uint64_t calls = 0;
  measure::Distribution times;  // in ns, of the calls that were measured
  std::uint64_t max_ns = 0;
};

struct TopView {
  std::vector<TopRow> rows;     // of functions that were called
  std::uint64_t calls = 0;      // of all
  std::uint64_t measured = 0;   // … whose times are known
  std::uint64_t uncounted = 0;  // … that found no room in the table
  std::size_t functions = 0;    // that are watched
  std::size_t refused = 0;      // that match and are not
};

// `calls`: by [id]; `times`: by [id, ns.log2], with the sum of ns. Rows of numbers that no function has are
// passed over. EINVAL for tables with other keys.
Result<TopView> make_top_view(const FunctionSet& set, const ipc::HistogramTable* calls,
                              const ipc::HistogramTable* times, TopOrder order);

// A table for people; `rows` at most, 0: all.
std::string top_text(const TopView& view, std::size_t rows, std::size_t columns = Screen::kAny);
// One line.
std::string top_json(const TopView& view, std::size_t rows);

}  // namespace landtrace::cli
