#include "tracefs/trace/trace_files.hpp"

#include "tracefs/trace/buffer_sizes.hpp"
#include "tracefs/trace/free_buffer.hpp"
#include "tracefs/trace/markers.hpp"
#include "tracefs/trace/option_files.hpp"
#include "tracefs/trace/raw_pipe.hpp"
#include "tracefs/trace/saved_tasks.hpp"
#include "tracefs/trace/settings.hpp"
#include "tracefs/trace/stats.hpp"
#include "tracefs/trace/trace_file.hpp"
#include "tracefs/trace/trace_pipe.hpp"

namespace landtrace::tracefs {
namespace {

std::shared_ptr<Folder> make_cpu_folder(const std::shared_ptr<TraceInstance>& instance, std::uint32_t cpu) {
  auto folder = std::make_shared<ListFolder>();
  folder->add<BufferSizeKb>("buffer_size_kb", instance, cpu);
  folder->add<TraceFile>("snapshot", instance, cpu, Which::kSnapshot);
  folder->add<RawPipe>("snapshot_raw", instance, cpu, Which::kSnapshot);
  folder->add<Stats>("stats", instance, cpu);
  folder->add<TraceFile>("trace", instance, cpu, Which::kMain);
  folder->add<TracePipe>("trace_pipe", instance, cpu);
  folder->add<RawPipe>("trace_pipe_raw", instance, cpu, Which::kMain);
  return folder;
}

}  // namespace

void add_trace_files(ListFolder& folder, Context& context, const std::shared_ptr<TraceInstance>& instance, bool top) {
  folder.add<BufferPercent>("buffer_percent", instance);
  folder.add<BufferSizeKb>("buffer_size_kb", instance, buffer::kAllCpus);
  folder.add<BufferSubbufSizeKb>("buffer_subbuf_size_kb", instance);
  folder.add<BufferTotalSizeKb>("buffer_total_size_kb", instance);
  folder.add<FreeBuffer>("free_buffer", instance);
  folder.put("options", make_options_folder(instance, top));
  const auto cpus = folder.add<ListFolder>("per_cpu");
  for (std::uint32_t cpu = 0; cpu < instance->buffer.cpus(); ++cpu) {
    cpus->put("cpu" + std::to_string(cpu), make_cpu_folder(instance, cpu));
  }
  folder.add<TraceFile>("snapshot", instance, buffer::kAllCpus, Which::kSnapshot);
  folder.add<TimestampMode>("timestamp_mode", instance);
  folder.add<TraceFile>("trace", instance, buffer::kAllCpus, Which::kMain);
  folder.add<TraceClockFile>("trace_clock", instance);
  folder.add<TraceMarker>("trace_marker", context, instance);
  folder.add<TraceMarkerRaw>("trace_marker_raw", context, instance);
  folder.add<TraceOptionsFile>("trace_options", instance);
  folder.add<TracePipe>("trace_pipe", instance, buffer::kAllCpus);
  folder.add<TracingOn>("tracing_on", instance);
  if (!top) return;
  folder.add<SavedCmdlines>("saved_cmdlines", context.domain.users());
  folder.add<SavedCmdlinesSize>("saved_cmdlines_size");
  folder.add<SavedTgids>("saved_tgids", instance);
}

}  // namespace landtrace::tracefs
