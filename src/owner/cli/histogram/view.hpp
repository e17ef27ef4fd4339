// What `landtrace hist` and `landtrace latency` show of a histogram: for a person, or as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/distribution.hpp"
#include "cli/histogram/key.hpp"
#include "cli/terminal.hpp"
#include "ipc/histogram_table.hpp"

namespace landtrace::cli {

struct HistShape {
  std::string title;                  // "req_done", "req_start -> req_done"
  std::vector<std::string> keys;      // names of what the rows are grouped by
  std::vector<std::string> sums;      // names of values that are added up
  std::optional<std::string> spread;  // the value whose distribution is shown
  bool is_time = false;               // that value is in nanoseconds
};

// One of the events that took longest, where it is known.
struct SlowEvent {
  std::uint64_t ns = 0;
  std::string host;
  std::uint64_t time_ns = 0;  // since 1970
  std::int32_t tid = 0;
  std::string task;
  std::string fields;              // an object of JSON, or what a host says instead
  std::vector<std::string> stack;  // the nearest first
};

struct HistGroup {
  std::vector<HistKey> keys;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> sums;  // HistView::sum_types says what of
  measure::Distribution spread;
  std::vector<SlowEvent> slowest = {};  // of powers of two, the slowest first
};

// Events of a `landtrace latency` that are in no pair.
struct Unpaired {
  std::uint64_t starts = 0;
  std::uint64_t ends = 0;
  std::uint64_t lost = 0;  // neither is known of them
};

struct HistView {
  std::vector<HistGroup> groups;  // those with the highest counts first
  std::uint64_t hits = 0;
  std::uint64_t dropped = 0;
  std::optional<Unpaired> unpaired = {};
  std::vector<ipc::HistogramValue> sum_types = {};  // of those that are missing the sum has no sign

  [[nodiscard]] bool is_signed(std::size_t sum) const { return sum < sum_types.size() && sum_types[sum].is_signed; }
  [[nodiscard]] bool is_hex(std::size_t sum) const { return sum < sum_types.size() && sum_types[sum].is_hex; }
};

// `table` has the shape's keys, behind them the .log2 of its spread value if there is one; its values are the sums,
// then the sum of the spread value. EINVAL where it has others.
Result<HistView> make_view(const HistShape& shape, const ipc::HistogramTable& table);

// Bars and names are as long as the columns allow.
std::string chart_text(const HistShape& shape, const HistView& view, std::size_t columns = Screen::kAny);
std::string json_text(const HistShape& shape, const HistView& view);

// "850 ns", "1.2 us".
std::string duration_text(double ns);

}  // namespace landtrace::cli
