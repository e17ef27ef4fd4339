#include "buffer/lines.hpp"

#include <fmt/format.h>

#include <iterator>

#include "output/text/line.hpp"

namespace landtrace::buffer {

bool Lines::append_next(std::string& out, Merge& merge, Printer& printer, const TextStyle& style) {
  const Merge::Source* const source = merge.next();
  if (source == nullptr) return false;
  RingCursor& cursor = *source->cursor;
  if (const std::uint64_t lost = cursor.take_lost(); lost > 0) [[unlikely]] {
    output::append_text_lost(out, source->cpu, lost);
  }
  if (options_.annotate && style.body <= TextStyle::Body::kFields) announce_cpu(out, source->cpu);
  if (options_.look_ahead && style.columns.latency) [[unlikely]] {
    append_with_delay(out, merge, printer, style, *source);
  } else {
    const Printer::Found found = printer.look_at(*source);
    printer.append(out, found, cursor.user(), style, {index_, options_.start_ns, found.record.time_ns});
    cursor.pop();
  }
  ++index_;
  return true;
}

void Lines::append_rest(std::string& out, Merge& merge) {
  for (const Merge::Source& source : merge.sources()) {
    if (const std::uint64_t lost = source.cursor->take_lost(); lost > 0) {
      output::append_text_lost(out, source.cpu, lost);
    }
  }
}

// In a buffer that was overrun CPUs begin at different times; the kernel says so in this form.
void Lines::announce_cpu(std::string& out, std::uint32_t cpu) {
  if (cpu >= started_.size()) started_.resize(cpu + 1);
  if (started_[cpu]) return;
  started_[cpu] = true;
  if (index_ > 0) fmt::format_to(std::back_inserter(out), "##### CPU {} buffer started ####\n", cpu);
}

// The line needs the time of the next record, and the merge has one record at a time: so this one is copied and
// popped first.
void Lines::append_with_delay(std::string& out, Merge& merge, Printer& printer, const TextStyle& style,
                              const Merge::Source& source) {
  Printer::Found found = printer.look_at(source);
  const std::uint32_t user = source.cursor->user();
  payload_.assign(found.record.payload.begin(), found.record.payload.end());
  found.record.payload = payload_;
  source.cursor->pop();
  const Merge::Source* const next = merge.next();
  const std::uint64_t next_ns = next != nullptr ? printer.look_at(*next).record.time_ns : found.record.time_ns;
  printer.append(out, found, user, style, {index_, options_.start_ns, next_ns});
}

}  // namespace landtrace::buffer
