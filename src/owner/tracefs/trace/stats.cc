#include "tracefs/trace/stats.hpp"

#include "output/cpu_stats.hpp"

namespace landtrace::tracefs {

Result<std::string> Stats::text() {
  LT_CHECK(instance_->get());
  buffer::Contents& contents = *instance_->buffer.main();
  const buffer::Contents::Counts counts = contents.counts(cpu_);
  const auto oldest = contents.oldest(cpu_);
  instance_->clock.sample();
  output::CpuStats stats;
  stats.entries = counts.entries;
  stats.overrun = counts.overrun;
  stats.bytes = counts.bytes;
  stats.oldest_event_ns = oldest ? instance_->clock.shown(*oldest) : 0;
  stats.now_ns = instance_->clock.now();
  stats.dropped = counts.dropped;
  stats.read = counts.read;
  return output::cpu_stats_text(stats, instance_->clock.in_ns());
}

}  // namespace landtrace::tracefs
