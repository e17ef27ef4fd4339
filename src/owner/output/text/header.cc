#include "output/text/header.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

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

constexpr const char* kLatencyLegend =
    "#                    _------=> CPU#            \n"
    "#                   / _-----=> irqs-off/BH-disabled\n"
    "#                  | / _----=> need-resched    \n"
    "#                  || / _---=> hardirq/softirq \n"
    "#                  ||| / _--=> preempt-depth   \n"
    "#                  |||| / _-=> migrate-disable \n"
    "#                  ||||| /     delay           \n"
    "#  cmd     pid     |||||| time  |   caller     \n"
    "#     \\   /        ||||||  \\    |    /       \n";

const char* legend(const TextColumns& columns) {
  if (columns.irq_info) return columns.tgid ? kLegendWithTgid : kLegend;
  return columns.tgid ? kShortLegendWithTgid : kShortLegend;
}

// No tracer of ours measures a latency, so the latency is 0 and there is no task.
void append_latency_head(std::string& out, std::uint64_t entries, std::uint64_t written, std::uint32_t cpus) {
  utsname system{};
  ::uname(&system);
  fmt::format_to(std::back_inserter(out),
                 "# nop latency trace v1.1.5 on {}\n"
                 "# --------------------------------------------------------------------\n"
                 "# latency: 0 us, #{}/{}, CPU#0 | (M:desktop VP:0, KP:0, SP:0 HP:0 #P:{})\n"
                 "#    -----------------\n"
                 "#    | task: -0 (uid:0 nice:0 policy:0 rt_prio:0)\n"
                 "#    -----------------\n#\n",
                 system.release, entries, written, cpus);
}

}  // namespace

void append_tracer_line(std::string& out) { out += "# tracer: nop\n#\n"; }

void append_text_header(std::string& out, std::uint64_t entries, std::uint64_t written, std::uint32_t cpus,
                        const TextColumns& columns) {
  append_tracer_line(out);
  if (!columns.context) return;
  if (columns.latency) {
    if (entries == 0) return;
    append_latency_head(out, entries, written, cpus);
    if (!columns.verbose) out += kLatencyLegend;
    return;
  }
  if (columns.verbose) return;
  fmt::format_to(std::back_inserter(out), "# entries-in-buffer/entries-written: {}/{}   #P:{}\n#\n", entries, written,
                 cpus);
  out += legend(columns);
}

}  // namespace landtrace::output
