#include "tracefs/trace/trace_options.hpp"

#include <array>

namespace landtrace::tracefs {
namespace {

struct Known {
  std::string_view name;
  bool is_on_at_first = false;
  bool is_of_the_top = false;
  bool is_off_in_instances = false;
};

constexpr std::array<Known, kTraceOptions> kKnown{{
    {"print-parent", true},
    {"sym-offset"},
    {"sym-addr"},
    {"verbose"},
    {"raw"},
    {"hex"},
    {"bin"},
    {"block"},
    {"fields"},
    {"trace_printk", true, true},
    {"annotate", true},
    {"userstacktrace"},
    {"sym-userobj"},
    {"printk-msg-only", false, true},
    {"context-info", true},
    {"latency-format"},
    {"record-cmd", true, true},
    {"record-tgid"},
    {"overwrite", true},
    {"disable_on_free"},
    {"irq-info", true},
    {"markers", true},
    {"event-fork", false, false, true},
    {"trace_printk_dest", true, false, true},
    {"pause-on-trace"},
    {"hash-ptr", true},
    {"function-trace", true},
    {"function-fork", false, false, true},
    {"stacktrace"},
    {"test_nop_accept"},
    {"test_nop_refuse"},
}};

constexpr std::string_view kWholeLines = "landtrace-whole-lines";

const Known& known(TraceOption option) { return kKnown[static_cast<std::size_t>(option)]; }

}  // namespace

std::string_view name_of(TraceOption option) { return known(option).name; }

std::optional<TraceOption> option_named(std::string_view name) {
  if (name == kWholeLines) return TraceOption::kWholeLines;
  for (std::size_t i = 0; i < kTraceOptions; ++i) {
    if (kKnown[i].name == name) return static_cast<TraceOption>(i);
  }
  return std::nullopt;
}

bool is_of_the_top(TraceOption option) { return known(option).is_of_the_top; }

TraceOptions::TraceOptions() {
  for (std::size_t i = 0; i < kTraceOptions; ++i) bits_[i] = kKnown[i].is_on_at_first;
}

TraceOptions TraceOptions::of_instance(const TraceOptions& top) {
  TraceOptions options = top;
  for (std::size_t i = 0; i < kTraceOptions; ++i) {
    if (kKnown[i].is_off_in_instances) options.bits_[i] = false;
  }
  options.set(TraceOption::kWholeLines, false);
  options.set(TraceOption::kTestNopAccept, false);  // an option of the tracer; each instance has a tracer of its own
  return options;
}

}  // namespace landtrace::tracefs
