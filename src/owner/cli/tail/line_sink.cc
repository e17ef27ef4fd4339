#include "cli/tail/line_sink.hpp"

#include <utility>

namespace landtrace::cli {

LineSink::LineSink(const LineStyle& style, Selection selection)
    : selection_(std::move(selection)), lines_(style, true) {
  lines_.set_wall_offset(WallClock::offset_now());
}

void LineSink::knows_type(const output::EventType& type) {
  constexpr std::uint32_t kAnyCpus = 4096;
  lines_.know(type);
  std::ignore = selection_.know(types(), kAnyCpus);  // it has no filter: that is the session's
}

void LineSink::in_order(const output::Record& record, const output::Task* who, const output::EventType& type) {
  if (!selection_.wants(record, who)) return;
  lines_.event(out_.text(), record, who, &type);
  if (!out_.flush_if_full()) flush();
}

void LineSink::lost_in_order(std::uint32_t cpu, std::uint64_t count, std::uint64_t /*time_ns*/) {
  if (selection_.wants_cpu(cpu)) lines_.lost(out_.text(), cpu, count);
}

void LineSink::flush() {
  if (out_.text().empty() && out_.error() == 0) return;
  if (!out_.flush()) fail_with_error(Error(out_.error(), "standard output: " + errno_text(out_.error())));
}

}  // namespace landtrace::cli
