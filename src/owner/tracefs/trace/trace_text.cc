#include "tracefs/trace/trace_text.hpp"

#include <algorithm>
#include <cstring>

#include "output/text/line.hpp"
#include "tracefs/trace/snapshot_help.hpp"

namespace landtrace::tracefs {

TraceText::TraceText(TraceInstance& instance, std::uint32_t cpu, bool is_snapshot, bool latency)
    : instance_(instance), cpu_(cpu), is_snapshot_(is_snapshot), latency_(latency) {}

void TraceText::restart() {
  is_started_ = true;
  text_.clear();
  text_offset_ = 0;
  reading_.reset();
  const auto contents = is_snapshot_ ? instance_.buffer.snapshot() : instance_.buffer.main();
  instance_.printer.prepare(true);
  append_head(contents.get());
  if (!contents) return;
  reading_ = std::make_unique<buffer::Reading>(contents, cpu_);
  const bool was_overrun = contents->counts(buffer::kAllCpus).overrun > 0;
  const std::uint64_t cleared = contents->cleared_at();
  lines_.emplace(buffer::Lines::Options{
      .annotate = was_overrun && instance_.options()[TraceOption::kAnnotate],
      .look_ahead = true,
      .start_ns = cleared == 0 ? 0 : instance_.clock.shown(cleared),
  });
}

void TraceText::append_head(buffer::Contents* contents) {
  const auto counts = contents != nullptr ? contents->counts(buffer::kAllCpus) : buffer::Contents::Counts();
  if (is_snapshot_ && (contents == nullptr || contents->counts(cpu_).entries == 0)) {
    output::append_tracer_line(text_);
    text_ += snapshot_help(contents != nullptr, cpu_ == buffer::kAllCpus);
    return;
  }
  output::append_text_header(text_, counts.entries, counts.entries + counts.overrun, instance_.buffer.cpus(),
                             instance_.style(latency_).columns);
}

void TraceText::drop_until(std::uint64_t offset) {
  const std::size_t size = std::min<std::size_t>(text_.size(), offset - text_offset_);
  text_.erase(0, size);
  text_offset_ += size;
}

std::size_t TraceText::read(std::span<char> to, std::uint64_t offset) {
  if (!is_started_ || offset < text_offset_ || offset == 0) restart();
  const buffer::TextStyle style = instance_.style(latency_);
  const std::uint64_t end = offset + to.size();
  drop_until(offset);
  while (text_offset_ + text_.size() < end && reading_) {
    if (text_offset_ + text_.size() <= offset) drop_until(offset);
    if (lines_->append_next(text_, reading_->merge, instance_.printer, style)) continue;
    buffer::Lines::append_rest(text_, reading_->merge);
    reading_.reset();
  }
  drop_until(offset);
  if (offset > text_offset_) return 0;  // beyond the end
  const std::size_t size = std::min(to.size(), text_.size());
  std::memcpy(to.data(), text_.data(), size);
  return size;
}

}  // namespace landtrace::tracefs
