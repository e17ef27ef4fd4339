// The contents of a recording that is not finished: its journal, and the streams beside it.
#include "output/trace_dat/contents.hpp"
#include "output/trace_dat/cpu_stream.hpp"
#include "output/trace_dat/journal.hpp"

namespace landtrace::output::trace_dat {
namespace {

CpuStats stats_of(const InputFile& stream) {
  StreamCounters counters{};
  if (!stream.read(0, std::as_writable_bytes(std::span(&counters, 1)), "counters")) return {};
  CpuStats stats;
  stats.entries = counters.entries;
  stats.overrun = counters.overrun;
  stats.bytes = counters.bytes;
  stats.oldest_event_ns = counters.oldest_event_ns;
  stats.now_ns = counters.now_ns;
  stats.dropped = counters.dropped;
  stats.waiting = counters.waiting;
  return stats;
}

}  // namespace

std::vector<Region> regions_begun(const std::string& path) {
  const auto partial = InputFile::open(partial_path(path));
  if (!partial) return {};
  const auto contents = read_contents(*partial);
  if (!contents) return {};
  std::vector<Region> regions;
  for (const CpuRegion& region : contents->regions) regions.push_back({region.offset, region.size});
  return regions;
}

Result<Contents> read_unfinished(const InputFile& file, const std::string& path) {
  LT_TRY(Unfinished left, read_journal(file));
  Contents contents;
  contents.is_unfinished = true;
  contents.page_size = kPageSize;
  contents.cpus = left.cpus;
  contents.clock = std::move(left.metadata.clock);
  contents.events = std::move(left.metadata.events);
  contents.tasks.insert(left.metadata.tasks.begin(), left.metadata.tasks.end());
  contents.objects = std::move(left.metadata.objects);
  contents.wall_offset_ns = left.metadata.wall_offset_ns;
  contents.horizon_ns = left.horizon_ns;

  const std::vector<Region> moved = regions_begun(path);
  std::shared_ptr<const InputFile> partial;
  if (!moved.empty()) {
    LT_TRY(InputFile opened, InputFile::open(partial_path(path)));
    partial = std::make_shared<InputFile>(std::move(opened));
  }
  for (std::uint32_t cpu = 0; cpu < left.cpus + left.spare; ++cpu) {
    auto stream = InputFile::open(stream_path(path, cpu));
    if (!stream) continue;
    contents.cpus = std::max(contents.cpus, cpu + 1);
    contents.stats.resize(contents.cpus);
    contents.stats[cpu] = stats_of(*stream);
    CpuRegion region{cpu, kStreamStart, pages_in_stream(stream->size()) * kPageSize};
    if (cpu < moved.size()) {
      region.size = moved[cpu].size;
      region.moved_to = partial;
      region.moved_offset = moved[cpu].offset;
    }
    region.stream = std::make_shared<InputFile>(*std::move(stream));
    contents.regions.push_back(std::move(region));
  }
  contents.stats.resize(contents.cpus);
  return contents;
}

}  // namespace landtrace::output::trace_dat
