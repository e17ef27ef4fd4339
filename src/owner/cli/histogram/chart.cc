// A histogram for a person.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/histogram/view.hpp"
#include "cli/quantity.hpp"
#include "cli/visible.hpp"

namespace landtrace::cli {
namespace {

constexpr std::size_t kBar = 40;
constexpr std::size_t kMostGroups = 40;
// Below this there is no room for wide columns of numbers.
constexpr std::size_t kNarrow = 60;
constexpr std::size_t kShortestName = 8;

struct Widths {
  std::size_t name = 0;
  std::size_t number = 10;  // of the ends of a bucket
  std::size_t count = 12;
  std::size_t bar = kBar;
};

std::size_t left_of(std::size_t columns, std::size_t used) { return columns - std::min(columns, used); }

std::string bar(std::uint64_t count, std::uint64_t most, std::size_t longest) {
  const double part = most == 0 ? 0 : static_cast<double>(count) / static_cast<double>(most);
  if (longest == 0) return "";
  const auto length = static_cast<std::size_t>(std::lround(part * static_cast<double>(longest)));
  return std::string(count > 0 ? std::max<std::size_t>(length, 1) : 0, '#');
}

std::string amount(const HistShape& shape, double value) {
  if (shape.is_time) return duration_text(value);
  if (value >= 1e6) return count_text(static_cast<std::uint64_t>(value));
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

std::string events_text(std::uint64_t count) { return count_text(count) + (count == 1 ? " event" : " events"); }

std::string name_of(const HistShape& shape, const HistGroup& group) {
  std::string text;
  for (std::size_t i = 0; i < group.keys.size(); ++i) {
    const HistKey& key = group.keys[i];
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", shape.keys[i],
                        visible(key.text, key.has_lines ? Lines::kKept : Lines::kNone));
  }
  return text;
}

// Of lines "NAME COUNT PERCENT BAR".
Widths widths_of_lines(std::size_t longest_name, std::uint64_t largest_count, std::size_t columns) {
  constexpr std::size_t kPercent = 7, kBeforeBar = 1;
  Widths widths;
  if (columns < kNarrow) widths.count = count_text(largest_count).size();
  const std::size_t numbers = 1 + widths.count + kPercent;
  widths.name = std::min(longest_name, std::max(left_of(columns, numbers), kShortestName));
  widths.bar = std::min(kBar, left_of(columns, widths.name + numbers + kBeforeBar));
  return widths;
}

// Of lines "  FROM .. TO COUNT BAR".
Widths widths_of_spread(std::uint64_t largest_count, std::size_t columns) {
  Widths widths;
  if (columns < kNarrow) {
    widths.number = 8;
    widths.count = count_text(largest_count).size();
  }
  const std::size_t numbers = 2 + 2 * widths.number + 4 + 1 + widths.count + 1;
  widths.bar = std::min(kBar, left_of(columns, numbers));
  return widths;
}

// A line for each power of two from the first to the last that has events.
void add_spread(std::string& out, const HistShape& shape, const measure::Distribution& spread, std::size_t columns) {
  const std::vector<measure::Distribution::Bucket> powers = spread.powers();
  std::uint64_t most = 0;
  for (const measure::Distribution::Bucket& bucket : powers) most = std::max(most, bucket.count);
  const Widths widths = widths_of_spread(most, columns);
  for (const measure::Distribution::Bucket& bucket : powers) {
    const bool is_negative = bucket.low == 0 && spread.has_negative();
    const std::string low = is_negative ? "negative" : amount(shape, static_cast<double>(bucket.low));
    out += fmt::format("  {:>{}} .. {:<{}} {:>{}} {}\n", low, widths.number,
                       amount(shape, static_cast<double>(bucket.high)), widths.number, count_text(bucket.count),
                       widths.count, bar(bucket.count, most, widths.bar));
  }
}

double as_real(const HistView& view, std::size_t i, std::uint64_t sum) {
  return view.is_signed(i) ? static_cast<double>(static_cast<std::int64_t>(sum)) : static_cast<double>(sum);
}

std::string sum_text(const HistView& view, std::size_t i, std::uint64_t sum) {
  if (view.is_hex(i)) return fmt::format("{:x}", sum);
  const bool is_negative = view.is_signed(i) && sum >> 63 != 0;
  return is_negative ? "-" + count_text(-sum) : count_text(sum);
}

// "id=7 route=/login", of an object of JSON.
std::string fields_text(const std::string& json) {
  const auto fields = nlohmann::ordered_json::parse(json, nullptr, false);
  if (!fields.is_object()) return json;
  std::string text;
  for (const auto& [name, value] : fields.items()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name,
                        value.is_string() ? value.get<std::string>()
                                          : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return text;
}

std::string time_of_day(std::uint64_t time_ns) {
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  const std::uint64_t seconds = time_ns / kNsPerSecond % 86400;
  return fmt::format("{:02}:{:02}:{:02}.{:06}", seconds / 3600, seconds / 60 % 60, seconds % 60,
                     time_ns % kNsPerSecond / 1000);
}

void add_slowest(std::string& out, const SlowEvent& slow, std::size_t columns) {
  const std::string line =
      fmt::format("slowest: {} on {} at {} UTC, {}-{}: {}", duration_text(static_cast<double>(slow.ns)), slow.host,
                  time_of_day(slow.time_ns), slow.task.empty() ? "<...>" : slow.task, slow.tid,
                  fields_text(slow.fields));
  constexpr std::size_t kIndent = 4;
  const std::size_t room = columns == Screen::kAny ? columns : left_of(columns, kIndent);
  out += fmt::format("  {}\n", fmt::join(broken_lines(visible(line, Lines::kNone), room, room), "\n    "));
  for (const std::string& frame : slow.stack) out += fmt::format("    => {}\n", visible(frame, Lines::kNone));
}

void add_group_with_spread(std::string& out, const HistShape& shape, const HistView& view, const HistGroup& group,
                           std::size_t columns) {
  const measure::Distribution& spread = group.spread;
  std::string line = group.keys.empty() ? "" : name_of(shape, group) + ": ";
  line += fmt::format("{}, mean {}, p50 {}, p90 {}, p99 {}, p99.9 {}", events_text(group.count),
                      amount(shape, spread.mean()), amount(shape, spread.percentile(0.5)),
                      amount(shape, spread.percentile(0.9)), amount(shape, spread.percentile(0.99)),
                      amount(shape, spread.percentile(0.999)));
  for (std::size_t i = 0; i < group.sums.size(); ++i) {
    line += fmt::format(", {} {}", shape.sums[i], sum_text(view, i, group.sums[i]));
  }
  constexpr std::size_t kIndent = 2;
  // A stack has lines of its own.
  const std::size_t room = columns == Screen::kAny || line.find('\n') != std::string::npos ? Screen::kAny : columns;
  out += fmt::format("{}\n", fmt::join(broken_lines(line, left_of(room, kIndent), room), "\n  "));
  if (!group.slowest.empty()) add_slowest(out, group.slowest.front(), columns);
  add_spread(out, shape, spread, columns);
}

void add_line(std::string& out, const HistShape& shape, const HistView& view, const HistGroup& group,
              const Widths& widths) {
  const double percent =
      100.0 * static_cast<double>(group.count) / static_cast<double>(std::max<std::uint64_t>(view.hits, 1));
  std::string name = name_of(shape, group);
  if (name.find('\n') == std::string::npos) name = shortened(name, widths.name);
  out += fmt::format("{:<{}} {:>{}} {:>5.1f}%", name, widths.name, count_text(group.count), widths.count, percent);
  for (std::size_t i = 0; i < group.sums.size(); ++i) {
    out += fmt::format("  {} {} (mean {:.1f})", shape.sums[i], sum_text(view, i, group.sums[i]),
                       as_real(view, i, group.sums[i]) / static_cast<double>(std::max<std::uint64_t>(group.count, 1)));
  }
  out += fmt::format(" {}\n", bar(group.count, view.groups.front().count, widths.bar));
}

void add_unpaired(std::string& out, const Unpaired& unpaired) {
  if (unpaired.starts > 0) out += fmt::format("without an end: {}\n", events_text(unpaired.starts));
  if (unpaired.ends > 0) out += fmt::format("without a start: {}\n", events_text(unpaired.ends));
  if (unpaired.lost > 0) out += fmt::format("lost, the buffers being full: {}\n", events_text(unpaired.lost));
}

}  // namespace

std::string duration_text(double ns) {
  constexpr std::array<const char*, 4> kUnits{"ns", "us", "ms", "s"};
  std::size_t unit = 0;
  for (; ns >= 1000 && unit + 1 < kUnits.size(); ++unit) ns /= 1000;
  const bool is_whole = ns >= 100 || ns == std::floor(ns);
  return fmt::format("{:.{}f} {}", ns, is_whole ? 0 : 1, kUnits[unit]);
}

std::string chart_text(const HistShape& shape, const HistView& view, std::size_t columns) {
  std::string out = fmt::format("{}: {}\n", shape.title, events_text(view.hits));
  const std::size_t shown = std::min(view.groups.size(), kMostGroups);
  std::size_t longest_name = 0;
  for (std::size_t i = 0; i < shown; ++i)
    longest_name = std::max(longest_name, width_of(name_of(shape, view.groups[i])));
  const Widths widths = widths_of_lines(longest_name, shown == 0 ? 0 : view.groups.front().count, columns);
  for (std::size_t i = 0; i < shown; ++i) {
    if (shape.spread) {
      add_group_with_spread(out, shape, view, view.groups[i], columns);
    } else {
      add_line(out, shape, view, view.groups[i], widths);
    }
  }
  if (shown < view.groups.size()) out += fmt::format("and {} more\n", count_text(view.groups.size() - shown));
  if (view.dropped > 0) {
    out += fmt::format("{} found no room in the table: a larger --size keeps more\n", events_text(view.dropped));
  }
  if (view.unpaired) add_unpaired(out, *view.unpaired);
  return out;
}

}  // namespace landtrace::cli
