// A histogram for a person.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/histogram/view.hpp"
#include "cli/quantity.hpp"

namespace landtrace::cli {
namespace {

constexpr std::size_t kBar = 40;
constexpr std::size_t kMostGroups = 40;

std::string bar(std::uint64_t count, std::uint64_t most) {
  const double part = most == 0 ? 0 : static_cast<double>(count) / static_cast<double>(most);
  const auto length = static_cast<std::size_t>(std::lround(part * kBar));
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
    text += fmt::format("{}{}={}", i == 0 ? "" : " ", shape.keys[i], group.keys[i]);
  }
  return text;
}

// A line for each power of two from the first to the last that has events.
void add_spread(std::string& out, const HistShape& shape, const Distribution& spread) {
  std::uint64_t most = 0;
  for (const auto& [power, bucket] : spread.buckets()) most = std::max(most, bucket.count);
  const unsigned first = spread.buckets().begin()->first;
  const unsigned last = spread.buckets().rbegin()->first;
  for (unsigned power = first; power <= last; ++power) {
    const auto found = spread.buckets().find(power);
    const std::uint64_t count = found == spread.buckets().end() ? 0 : found->second.count;
    const auto high = static_cast<double>(Distribution::high(power));
    out += fmt::format("  {:>10} .. {:<10} {:>12} {}\n", amount(shape, static_cast<double>(Distribution::low(power))),
                       amount(shape, high), count_text(count), bar(count, most));
  }
}

void add_group_with_spread(std::string& out, const HistShape& shape, const HistGroup& group) {
  const Distribution& spread = group.spread;
  out += group.keys.empty() ? "" : name_of(shape, group) + ": ";
  out += fmt::format("{}, mean {}, p50 {}, p90 {}, p99 {}", events_text(group.count), amount(shape, spread.mean()),
                     amount(shape, spread.percentile(0.5)), amount(shape, spread.percentile(0.9)),
                     amount(shape, spread.percentile(0.99)));
  for (std::size_t i = 0; i < group.sums.size(); ++i) {
    out += fmt::format(", {} {}", shape.sums[i], count_text(group.sums[i]));
  }
  out += '\n';
  add_spread(out, shape, spread);
}

void add_line(std::string& out, const HistShape& shape, const HistView& view, const HistGroup& group,
              std::size_t width) {
  const double percent =
      100.0 * static_cast<double>(group.count) / static_cast<double>(std::max<std::uint64_t>(view.hits, 1));
  out += fmt::format("{:<{}} {:>12} {:>5.1f}%", name_of(shape, group), width, count_text(group.count), percent);
  for (std::size_t i = 0; i < group.sums.size(); ++i) {
    out +=
        fmt::format("  {} {} (mean {:.1f})", shape.sums[i], count_text(group.sums[i]),
                    static_cast<double>(group.sums[i]) / static_cast<double>(std::max<std::uint64_t>(group.count, 1)));
  }
  out += fmt::format(" {}\n", bar(group.count, view.groups.front().count));
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

std::string chart_text(const HistShape& shape, const HistView& view) {
  std::string out = fmt::format("{}: {}\n", shape.title, events_text(view.hits));
  const std::size_t shown = std::min(view.groups.size(), kMostGroups);
  std::size_t width = 0;
  for (std::size_t i = 0; i < shown; ++i) width = std::max(width, name_of(shape, view.groups[i]).size());
  for (std::size_t i = 0; i < shown; ++i) {
    if (shape.spread) {
      add_group_with_spread(out, shape, view.groups[i]);
    } else {
      add_line(out, shape, view, view.groups[i], width);
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
