#include "output/text/latency.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace landtrace::output {
namespace {

constexpr std::uint64_t kUsPerMs = 1'000;

// The kernel's signs for the time to the next event.
char delay_mark(std::uint64_t us) {
  if (us > 1'000'000) return '$';
  if (us > 100'000) return '@';
  if (us > 10'000) return '*';
  if (us > 1'000) return '#';
  if (us > 100) return '!';
  if (us > 10) return '+';
  return ' ';
}

// Rounded as the kernel rounds: to the nearest.
std::uint64_t to_us(std::uint64_t ns) { return (ns + kNsPerUs / 2) / kNsPerUs; }

std::uint64_t since(std::uint64_t time, std::uint64_t start) { return time > start ? time - start : 0; }

void append_times(std::string& out, const Record& record, const LinePlace& place, const TextColumns& columns) {
  const std::uint64_t at = since(record.time_ns, place.start_ns);
  const std::uint64_t until_next = since(place.next_ns, record.time_ns);
  const auto to = std::back_inserter(out);
  if (!columns.time_in_ns) {
    if (columns.verbose) {
      fmt::format_to(to, FMT_COMPILE(" [{:08x}] {} (+{}): "), record.time_ns, at, until_next);
    } else {
      fmt::format_to(to, FMT_COMPILE(" {:4}: "), at);
    }
    return;
  }
  const std::uint64_t at_us = to_us(at);
  const std::uint64_t next_us = to_us(until_next);
  if (columns.verbose) {
    fmt::format_to(to, FMT_COMPILE(" [{:08x}] {}.{:03}ms (+{}.{:03}ms): "), to_us(record.time_ns), at_us / kUsPerMs,
                   at_us % kUsPerMs, next_us / kUsPerMs, next_us % kUsPerMs);
  } else {
    fmt::format_to(to, FMT_COMPILE(" {:4}us{}: "), at_us, delay_mark(next_us));
  }
}

}  // namespace

void append_latency_context(std::string& out, const Record& record, const Task* task, const LinePlace& place,
                            const TextColumns& columns) {
  const std::string_view comm = task != nullptr ? std::string_view(task->comm) : "<...>";
  const auto to = std::back_inserter(out);
  if (columns.verbose) {
    fmt::format_to(to, FMT_COMPILE("{:>16} {:>7} {:>3} 0 00000000 {:08x}"), comm, record.tid, record.cpu, place.index);
  } else {
    fmt::format_to(to, FMT_COMPILE("{:>8}-{:<7} {:>3}....."), comm.substr(0, 8), record.tid, record.cpu);
  }
  append_times(out, record, place, columns);
}

}  // namespace landtrace::output
