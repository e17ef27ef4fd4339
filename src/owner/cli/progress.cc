#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "arch/clock.hpp"
#include "cli/quantity.hpp"
#include "cli/terminal.hpp"

namespace landtrace::cli {
namespace {

constexpr std::uint64_t kInterval_ns = 250'000'000;
constexpr double kNsPerSecond = 1e9;

std::string lost_text(const Summary& summary) {
  const consumer::Totals& t = summary.totals;
  const struct {
    std::uint64_t count;
    const char* why;
  } causes[] = {{t.discarded, "discarded"},
                {t.overwritten, "overwritten"},
                {t.placeless, "of threads without a place"},
                {summary.unwritten, "not written"}};
  std::uint64_t sum = 0;
  std::string parts;
  for (const auto& [count, why] : causes) {
    sum += count;
    if (count > 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count_text(count), why);
  }
  return parts.empty() ? "0 lost" : fmt::format("{} lost ({})", count_text(sum), parts);
}

std::uint64_t file_size(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 ? static_cast<std::uint64_t>(st.st_size) : 0;
}

}  // namespace

Progress::Progress() : on_terminal_(::isatty(STDERR_FILENO) != 0), last_ns_(arch::monotonic_ns()) {}

std::string progress_text(std::uint64_t events, std::uint64_t rate, std::uint64_t lost, std::uint64_t bytes,
                          std::size_t columns) {
  const std::string parts[] = {count_text(events) + " events", count_text(lost) + " lost", count_text(rate) + "/s",
                               size_text(bytes)};
  // In the order of what a narrow terminal has; shown in another.
  constexpr std::size_t kParts = 4;
  constexpr std::size_t kShown[] = {0, 2, 1, 3};
  for (std::size_t many = kParts; many > 0; --many) {
    std::string text;
    for (const std::size_t part : kShown) {
      if (part < many) text += (text.empty() ? "" : "  ") + parts[part];
    }
    if (text.size() <= columns) return text;
  }
  return shortened(parts[0], columns);
}

bool Progress::is_due() const { return on_terminal_ && arch::monotonic_ns() - last_ns_ >= kInterval_ns; }

void Progress::draw(std::uint64_t events, std::uint64_t lost, std::uint64_t bytes) {
  const std::uint64_t now = arch::monotonic_ns();
  const double seconds = static_cast<double>(now - last_ns_) / kNsPerSecond;
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(events - last_events_) / seconds);
  // Not in the last column, behind which a terminal begins another line; asked for anew, as it may have changed.
  const std::size_t columns = Screen::of(STDERR_FILENO).columns;
  std::fputs(fmt::format("\r\033[K{}", progress_text(events, rate, lost, bytes, columns - 1)).c_str(), stderr);
  std::fflush(stderr);
  drawn_ = true;
  last_ns_ = now;
  last_events_ = events;
}

void Progress::clear() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

std::string summary_text(const Summary& summary) {
  std::string text = fmt::format("{} event{}, {}, {} program{}", count_text(summary.written),
                                 summary.written == 1 ? "" : "s", lost_text(summary), summary.processes,
                                 summary.processes == 1 ? "" : "s");
  if (!summary.file.empty()) text += fmt::format(", {} in {}", size_text(file_size(summary.file)), summary.file);
  if (summary.totals.corrupt > 0) {
    text += fmt::format("; {} places of garbage in the buffers", count_text(summary.totals.corrupt));
  }
  return text;
}

}  // namespace landtrace::cli
