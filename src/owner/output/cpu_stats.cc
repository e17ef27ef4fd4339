#include "output/cpu_stats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace landtrace::output {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint64_t kNsPerMicrosecond = 1'000;

std::string seconds(std::uint64_t ns) {
  return fmt::format("{:5}.{:06}", ns / kNsPerSecond, ns % kNsPerSecond / kNsPerMicrosecond);
}

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

std::uint64_t number(std::string_view text) {
  std::uint64_t value = 0;
  text = trimmed(text);
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::uint64_t nanoseconds(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == text.npos) return 0;
  return number(text.substr(0, point)) * kNsPerSecond + number(text.substr(point + 1)) * kNsPerMicrosecond;
}

void parse_line(std::string_view name, std::string_view value, CpuStats& stats) {
  if (name == "entries") stats.entries = number(value);
  if (name == "overrun") stats.overrun = number(value);
  if (name == "commit overrun") stats.commit_overrun = number(value);
  if (name == "bytes") stats.bytes = number(value);
  if (name == "oldest event ts") stats.oldest_event_ns = nanoseconds(value);
  if (name == "now ts") stats.now_ns = nanoseconds(value);
  if (name == "dropped events") stats.dropped = number(value);
  if (name == "read events") stats.read = number(value);
}

}  // namespace

std::string cpu_stats_text(const CpuStats& stats, bool in_ns) {
  const auto time = [in_ns](std::uint64_t value) { return in_ns ? seconds(value) : std::to_string(value); };
  return fmt::format(
      "entries: {}\noverrun: {}\ncommit overrun: {}\nbytes: {}\n"
      "oldest event ts: {}\nnow ts: {}\ndropped events: {}\nread events: {}\n",
      stats.entries, stats.overrun, stats.commit_overrun, stats.bytes, time(stats.oldest_event_ns), time(stats.now_ns),
      stats.dropped, stats.read);
}

CpuStats parse_cpu_stats(std::string_view text) {
  CpuStats stats;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon != line.npos) parse_line(line.substr(0, colon), line.substr(colon + 1), stats);
  }
  return stats;
}

}  // namespace landtrace::output
