#include "output/trace_dat/writer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "output/trace_dat/contents.hpp"
#include "output/trace_dat/names.hpp"
#include "output/trace_dat/place.hpp"

namespace landtrace::output {

using trace_dat::CpuStream;
using trace_dat::Journal;
using trace_dat::kPageSize;
using trace_dat::NamedFile;
using trace_dat::Region;

namespace {

constexpr std::uint64_t kReserveStep = 1024 * 1024;
// finish() has this much on disk twice: what it moves at a time, the gap before the first page, and a margin
// for the file system's own blocks.
constexpr std::uint64_t kBaseNeed = 2 * 1024 * 1024;
constexpr std::uint64_t kNeedPerCpu = 512;  // its statistics and its place in the table

std::uint64_t align_to_page(std::uint64_t offset) { return (offset + kPageSize - 1) / kPageSize * kPageSize; }

std::uint64_t end_of(const std::vector<Region>& regions) {
  std::uint64_t end = 0;
  for (const Region& region : regions) end = std::max(end, region.offset + region.size);
  return end;
}

constexpr std::size_t kNone = ~std::size_t{0};
// A stream with fewer pages is moved: the room before its events would be much of the file.
constexpr std::uint64_t kManyPages = 64;

}  // namespace

TraceDatWriter::TraceDatWriter(std::string path, Journal journal, Options options)
    : path_(std::move(path)),
      journal_(std::move(journal)),
      streams_(options.cpus + options.spare),
      cpus_(options.cpus) {
  metadata_.clock = std::move(options.clock);
  metadata_.wall_offset_ns = options.wall_offset_ns;
  metadata_.kallsyms = std::move(options.kallsyms);
}

Result<TraceDatWriter> TraceDatWriter::create(const std::string& named, Options options) {
  if (options.cpus == 0 || options.cpus > trace_dat::kMaxCpus || options.spare > trace_dat::kMaxCpus - options.cpus) {
    return fail(EINVAL,
                fmt::format("{} CPUs: a trace file has 1 to {}", options.cpus + options.spare, trace_dat::kMaxCpus));
  }
  const std::string path = trace_dat::follow_links(named, true);
  const std::uint32_t streams = options.cpus + options.spare;
  LT_TRY(auto files, trace_dat::make_files(path, streams));
  TraceDatWriter writer(path, Journal(std::move(files.journal), 0), std::move(options));
  writer.partial_ = std::move(files.partial);
  // Readers take all that have these names for streams of this recording.
  for (std::uint32_t cpu = 0; cpu < streams; ++cpu) trace_dat::remove_aside(trace_dat::stream_path(path, cpu));
  LT_CHECK(writer.reserve_more(kBaseNeed + streams * kNeedPerCpu + writer.metadata_.kallsyms.size()));
  LT_CHECK(writer.journal_.begin(writer.metadata_, writer.cpus_, streams - writer.cpus_));
  return writer;
}

TraceDatWriter::~TraceDatWriter() {
  if (!journal_.file().fd || finished_) return;
  if (has_events()) {
    std::ignore = publish(0);
  } else {
    remove_files();
  }
}

bool TraceDatWriter::has_events() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const CpuStream& stream) { return stream.pages() > 0; });
}

Result<void> TraceDatWriter::append(const Record& record) {
  if (record.cpu >= streams_.size()) {
    return fail(EINVAL, fmt::format("CPU {} of a trace file for {}", record.cpu, streams_.size()));
  }
  if (record.payload.size() > kMaxPayload) {
    return fail(E2BIG, fmt::format("a payload of {} bytes, the limit is {}", record.payload.size(), kMaxPayload));
  }
  CpuStream& stream = streams_[record.cpu];
  if (!stream.is_open()) [[unlikely]] {
    if (auto opened = open_stream(record.cpu); !opened) return stream.refuse(std::move(opened).error());
  }
  // A page that this record fills is written at once, and no reader may meet an event that nobody has described.
  if (journal_.has_unwritten()) [[unlikely]] {
    if (auto written = journal_.write(); !written) return stream.refuse(std::move(written).error());
  }
  return stream.append(record);
}

// The last page of a CPU goes from memory straight to its place: its room is reserved before there is a first
// one.
Result<void> TraceDatWriter::open_stream(std::uint32_t cpu) {
  LT_CHECK(reserve_more(kPageSize));
  return streams_[cpu].open(trace_dat::stream_path(path_, cpu));
}

Result<void> TraceDatWriter::reserve_more(std::uint64_t bytes) {
  if (needed_ + bytes > reserved_) {
    const std::uint64_t step = std::max(needed_ + bytes - reserved_, kReserveStep);
    LT_CHECK(trace_dat::reserve(partial_, reserved_, step));
    reserved_ += step;
  }
  needed_ += bytes;
  return {};
}

void TraceDatWriter::lost(std::uint32_t cpu, std::uint64_t count) {
  if (cpu < streams_.size()) streams_[cpu].lost(count);
}

Result<void> TraceDatWriter::set_outstanding(std::uint32_t cpu, Outstanding events) {
  if (cpu >= streams_.size()) return {};
  if (events != Outstanding{} && !streams_[cpu].is_open()) LT_CHECK(open_stream(cpu));
  return streams_[cpu].set_outstanding(events);
}

// Where the reservation fails, the disk is full and append() is about to say so; finish() has a margin.
void TraceDatWriter::add_event(EventType type) {
  std::ignore = reserve_more(trace_dat::encoded_size(type));
  journal_.add(type);
  metadata_.events.insert_or_assign(type.id, std::move(type));
}

void TraceDatWriter::set_task(std::int32_t tid, Task task) {
  journal_.add(tid, task);
  const auto [place, is_new] = metadata_.tasks.insert_or_assign(tid, std::move(task));
  if (is_new) std::ignore = reserve_more(trace_dat::encoded_size(place->second));
}

void TraceDatWriter::add_object(MappedObject object) {
  std::ignore = reserve_more(trace_dat::encoded_size(object));
  journal_.add(object);
  metadata_.objects.push_back(std::move(object));
}

Result<void> TraceDatWriter::publish(std::uint64_t horizon_ns) {
  Result<void> placed;
  if (has_events()) placed = take_place();
  // Also where it stays beside an older recording.
  LT_CHECK(publish_here(horizon_ns));
  return placed;
}

Result<void> TraceDatWriter::publish_here(std::uint64_t horizon_ns) {
  LT_CHECK(journal_.write());
  Result<void> result;
  for (std::uint32_t cpu = 0; cpu < streams_.size(); ++cpu) {
    // Where nothing came but events were missed, the counters tell.
    if (!streams_[cpu].is_open() && streams_[cpu].has_missed()) LT_CHECK(open_stream(cpu));
    if (auto published = streams_[cpu].publish(); !published && result) result = std::move(published);
  }
  if (result) result = journal_.set_horizon(horizon_ns);
  return result;
}

// The older recording is at PATH, PATH.new or PATH.old in every moment, and never nowhere. After an error it is where
// it was.
Result<void> TraceDatWriter::take_place() {
  const std::string now = journal_.file().path;
  if (now == path_) return {};
  const std::string old = trace_dat::old_path(path_);
  if (trace_dat::swap_names(now, path_)) {
    journal_.renamed(path_);
    if (auto moved = trace_dat::make_older(now, old); !moved) {
      if (!trace_dat::swap_names(now, path_)) {
        return fail(moved.error().code, fmt::format("{}; the older recording is {}", moved.error().message, now));
      }
      journal_.renamed(now);
      return moved;
    }
    replaced_ = true;
  } else if (errno == EINVAL || errno == ENOSYS || errno == ENOENT) {  // not on this file system; or PATH is gone
    const auto older = trace_dat::make_older(path_, old);
    if (!older && older.error().code != ENOENT) return older;
    if (auto moved = trace_dat::rename_to_free(now, path_); !moved) {
      if (older) std::ignore = trace_dat::rename_to_free(old, path_);
      return moved;
    }
    journal_.renamed(path_);
    replaced_ = older.has_value();
  } else {
    return fail_errno("rename " + now + " to " + path_);
  }
  return {};
}

std::uint64_t TraceDatWriter::bytes_written() const {
  std::uint64_t sum = 0;
  for (const CpuStream& stream : streams_) sum += stream.bytes();
  return sum;
}

Result<void> TraceDatWriter::finish(std::span<const CpuStats> stats) {
  finished_ = true;
  if (!has_events() && kept_older()) {
    remove_files();
    return {};
  }
  for (CpuStream& stream : streams_) std::ignore = stream.set_outstanding({});
  Result<void> placed;
  if (has_events()) placed = take_place();
  // What a full disk has no room for any more is in memory, and has its room in the file.
  std::ignore = publish_here(0);
  drop_empty_spares();
  LT_TRY(const std::vector<Region> regions, begin_partial(stats));
  LT_CHECK(complete(regions));
  return say_place(placed);
}

void TraceDatWriter::drop_empty_spares() {
  const auto is_empty = [](const CpuStream& stream) {
    const CpuStats stats = stream.stats();
    return !stream.is_open() && stats.overrun == 0 && stats.dropped == 0;
  };
  while (streams_.size() > cpus_ && is_empty(streams_.back())) streams_.pop_back();
}

std::vector<CpuStats> TraceDatWriter::final_stats(std::span<const CpuStats> stats) const {
  std::vector<CpuStats> all;
  for (const CpuStream& stream : streams_) {
    all.push_back(stream.stats());
    if (all.size() > stats.size()) continue;
    all.back() = stats[all.size() - 1];
    all.back().dropped += stream.stats().dropped;
  }
  return all;
}

// Regions stand one behind the other, the empty ones too; that of `base` comes first.
TraceDatWriter::Beginning TraceDatWriter::beginning(std::span<const CpuStats> stats, std::size_t base) const {
  const std::vector<CpuStats> all_stats = final_stats(stats);
  Beginning made{{}, std::vector<Region>(streams_.size())};
  std::uint64_t next = trace_dat::kStreamStart;
  const auto place = [&](std::size_t cpu) {
    made.regions[cpu] = {next, streams_[cpu].pages() * kPageSize};
    next += made.regions[cpu].size;
  };
  if (base == kNone) {
    next = align_to_page(trace_dat::encode_metadata(metadata_, all_stats, made.regions).size());
  } else {
    place(base);
  }
  for (std::size_t cpu = 0; cpu < streams_.size(); ++cpu) {
    if (cpu != base) place(cpu);
  }
  made.text = trace_dat::encode_metadata(metadata_, all_stats, made.regions);
  return made;
}

std::size_t TraceDatWriter::longest_stream() const {
  const auto longest = std::max_element(streams_.begin(), streams_.end(),
                                        [](const CpuStream& a, const CpuStream& b) { return a.pages() < b.pages(); });
  return longest->pages() < kManyPages ? kNone : static_cast<std::size_t>(longest - streams_.begin());
}

// As write_metadata() where there is no long stream, or it has no room for what stands before events, or the disk none.
Result<std::vector<Region>> TraceDatWriter::begin_partial(std::span<const CpuStats> stats) {
  const std::size_t base = longest_stream();
  if (base == kNone) return write_metadata(stats);
  Beginning made = beginning(stats, base);
  if (made.text.size() > trace_dat::kCountersAt) return write_metadata(stats);
  auto file = streams_[base].become_file({std::as_bytes(std::span(made.text)), trace_dat::kMagic.size()});
  if (!file) return write_metadata(stats);
  trace_dat::hold(*file);
  // From here on readers find its events in PATH.partial.
  LT_CHECK(trace_dat::rename_over_unused(file->path, partial_.path));
  file->path = partial_.path;
  partial_ = *std::move(file);
  return std::move(made.regions);
}

// Its first bytes last: without them it is no trace file, so that nobody takes half of it for the whole.
Result<std::vector<Region>> TraceDatWriter::write_metadata(std::span<const CpuStats> stats) {
  const Beginning made = beginning(stats, kNone);
  const std::vector<Region>& regions = made.regions;
  const std::uint64_t data_offset = regions.front().offset;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(made.text));
  const std::size_t first = trace_dat::kMagic.size();
  LT_CHECK(trace_dat::write_at(partial_, first, bytes.subspan(first)));
  trace_dat::punch_hole(partial_, bytes.size(), data_offset - bytes.size());
  LT_CHECK(trace_dat::write_at(partial_, 0, bytes.first(first)));
  return regions;
}

// From the moment that PATH.partial says where everything goes, whoever is killed leaves a recording that can be read
// and completed: each page is in its stream, or in its place, or in both. It takes the place of the journal, which is
// beside an older recording where that could not be moved.
Result<void> TraceDatWriter::complete(const std::vector<Region>& regions) {
  const auto completed = [&]() -> Result<void> {
    LT_CHECK(move_streams(regions));
    LT_CHECK(trace_dat::set_size(partial_, end_of(regions)));
    return trace_dat::put_in_place(partial_.path, place());
  }();
  if (!completed) {
    return fail(completed.error().code,
                fmt::format("{}; the recording can be read as it is{}; `landtrace recover {}` completes it when there "
                            "is room",
                            completed.error().message, kept_older() ? ", at " + place() : "", path_));
  }
  for (CpuStream& stream : streams_) stream.remove_file();
  // The journal, last: as long as it is PATH.partial the next recorder does not begin.
  if (trace_dat::is_at(journal_.file().fd.get(), partial_.path)) ::unlink(partial_.path.c_str());
  return {};
}

// It is at its place, or completed beside an older one and the error says so.
Result<void> TraceDatWriter::say_place(const Result<void>& placed) const {
  if (placed) return {};
  return fail(placed.error().code,
              fmt::format("{}; what was recorded is {}, complete", placed.error().message, place()));
}

Result<void> TraceDatWriter::move_streams(const std::vector<Region>& regions) {
  for (std::size_t cpu = 0; cpu < streams_.size() && cpu < regions.size(); ++cpu) {
    if (streams_[cpu].is_open()) LT_CHECK(streams_[cpu].move_to(partial_, regions[cpu].offset));
  }
  return {};
}

void TraceDatWriter::remove_files() {
  for (CpuStream& stream : streams_) stream.remove_file();
  trace_dat::remove_own(journal_.file());
  trace_dat::remove_own(partial_);  // last, as others begin from then on
}

}  // namespace landtrace::output
