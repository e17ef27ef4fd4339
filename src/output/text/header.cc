#include "output/text/header.hpp"

#include <fmt/format.h>

namespace landtrace::output {
namespace {

constexpr const char* kLegend =
    "#                                _-----=> irqs-off/BH-disabled\n"
    "#                               / _----=> need-resched\n"
    "#                              | / _---=> hardirq/softirq\n"
    "#                              || / _--=> preempt-depth\n"
    "#                              ||| / _-=> migrate-disable\n"
    "#                              |||| /     delay\n"
    "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
    "#              | |         |   |||||     |         |\n";

constexpr const char* kLegendWithTgid =
    "#                                          _-----=> irqs-off/BH-disabled\n"
    "#                                         / _----=> need-resched\n"
    "#                                        | / _---=> hardirq/softirq\n"
    "#                                        || / _--=> preempt-depth\n"
    "#                                        ||| / _-=> migrate-disable\n"
    "#                                        |||| /     delay\n"
    "#           TASK-PID       TGID    CPU#  |||||  TIMESTAMP  FUNCTION\n"
    "#              | |           |       |   |||||     |         |\n";

constexpr const char* kShortLegend =
    "#           TASK-PID     CPU#     TIMESTAMP  FUNCTION\n"
    "#              | |         |         |         |\n";

constexpr const char* kShortLegendWithTgid =
    "#           TASK-PID       TGID    CPU#     TIMESTAMP  FUNCTION\n"
    "#              | |           |       |         |         |\n";

const char* legend(const TextColumns& columns) {
  if (columns.irq_info) return columns.tgid ? kLegendWithTgid : kLegend;
  return columns.tgid ? kShortLegendWithTgid : kShortLegend;
}

}  // namespace

void append_text_header(std::string& out, std::uint64_t entries, std::uint64_t written, std::uint32_t cpus,
                        const TextColumns& columns) {
  out += "# tracer: nop\n#\n";
  if (!columns.context) return;
  fmt::format_to(std::back_inserter(out), "# entries-in-buffer/entries-written: {}/{}   #P:{}\n#\n", entries, written,
                 cpus);
  out += legend(columns);
}

}  // namespace landtrace::output
