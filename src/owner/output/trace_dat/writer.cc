#include "output/trace_dat/writer.hpp"

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>

namespace landtrace::output {

using trace_dat::CpuStream;
using trace_dat::kPageSize;
using trace_dat::NamedFile;
using trace_dat::Region;

namespace {

constexpr std::uint32_t kMaxCpus = 4096;
constexpr std::uint64_t kReserveStep = 1024 * 1024;
// finish() has this much on disk twice: what it moves at a time, the gap before the first page, and a margin
// for the file system's own blocks.
constexpr std::uint64_t kBaseNeed = 2 * 1024 * 1024;
constexpr std::uint64_t kNeedPerCpu = 512;  // its statistics and its place in the table

std::uint64_t align_to_page(std::uint64_t offset) { return (offset + kPageSize - 1) / kPageSize * kPageSize; }

std::uint64_t end_of(const std::vector<Region>& regions, std::uint64_t data_offset) {
  std::uint64_t end = data_offset;
  for (const Region& region : regions) {
    if (region.size > 0) end = std::max(end, region.offset + region.size);
  }
  return end;
}

Result<void> check_and_lock(const NamedFile& file) {
  struct stat status {};
  if (::fstat(file.fd.get(), &status) != 0) return fail_errno("stat " + file.path);
  if (!S_ISREG(status.st_mode)) return fail(EINVAL, file.path + " is not a regular file");
  if (::flock(file.fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return fail(EBUSY, file.path + " is being written by another process");
  }
  return {};
}

}  // namespace

TraceDatWriter::TraceDatWriter(NamedFile target, Options options)
    : target_(std::move(target)), streams_(options.cpus + options.spare), cpus_(options.cpus) {
  metadata_.clock = std::move(options.clock);
  metadata_.kallsyms = std::move(options.kallsyms);
}

Result<TraceDatWriter> TraceDatWriter::create(const std::string& path, Options options) {
  if (options.cpus == 0 || options.cpus > kMaxCpus || options.spare > kMaxCpus - options.cpus) {
    return fail(EINVAL, fmt::format("{} CPUs: a trace file has 1 to {}", options.cpus + options.spare, kMaxCpus));
  }
  LT_TRY(NamedFile target, trace_dat::open_for_writing(path));
  LT_CHECK(check_and_lock(target));
  LT_CHECK(trace_dat::set_size(target, 0));
  TraceDatWriter writer(std::move(target), std::move(options));
  LT_CHECK(writer.reserve_more(kBaseNeed + writer.streams_.size() * kNeedPerCpu + writer.metadata_.kallsyms.size()));
  return writer;
}

TraceDatWriter::~TraceDatWriter() {
  if (target_.fd && !finished_) abandon();
}

Result<void> TraceDatWriter::append(const Record& record) {
  if (record.cpu >= streams_.size()) {
    return fail(EINVAL, fmt::format("CPU {} of a trace file for {}", record.cpu, streams_.size()));
  }
  if (record.payload.size() > kMaxPayload) {
    return fail(E2BIG, fmt::format("a payload of {} bytes, the limit is {}", record.payload.size(), kMaxPayload));
  }
  CpuStream& stream = streams_[record.cpu];
  if (!stream.is_open()) [[unlikely]]
    LT_CHECK(open_stream(record.cpu));
  return stream.append(record);
}

// The last page of a CPU goes from memory straight to its place: its room is reserved before there is a first
// one.
Result<void> TraceDatWriter::open_stream(std::uint32_t cpu) {
  LT_CHECK(reserve_more(kPageSize));
  return streams_[cpu].open(fmt::format("{}.cpu{}", target_.path, cpu));
}

Result<void> TraceDatWriter::reserve_more(std::uint64_t bytes) {
  if (needed_ + bytes > reserved_) {
    const std::uint64_t step = std::max(needed_ + bytes - reserved_, kReserveStep);
    LT_CHECK(trace_dat::reserve(target_, reserved_, step));
    reserved_ += step;
  }
  needed_ += bytes;
  return {};
}

void TraceDatWriter::lost(std::uint32_t cpu, std::uint64_t count) {
  if (cpu < streams_.size()) streams_[cpu].lost(count);
}

// Where the reservation fails, the disk is full and append() is about to say so; finish() has a margin.
void TraceDatWriter::add_event(EventType type) {
  std::ignore = reserve_more(trace_dat::encoded_size(type));
  metadata_.events.insert_or_assign(type.id, std::move(type));
}

void TraceDatWriter::set_task(std::int32_t tid, Task task) {
  const auto [place, is_new] = metadata_.tasks.insert_or_assign(tid, std::move(task));
  if (is_new) std::ignore = reserve_more(trace_dat::encoded_size(place->second));
}

void TraceDatWriter::add_object(MappedObject object) {
  std::ignore = reserve_more(trace_dat::encoded_size(object));
  metadata_.objects.push_back(std::move(object));
}

std::uint64_t TraceDatWriter::bytes_written() const {
  std::uint64_t sum = 0;
  for (const CpuStream& stream : streams_) sum += stream.bytes();
  return sum;
}

Result<void> TraceDatWriter::finish(std::span<const CpuStats> stats) {
  finished_ = true;
  drop_empty_spares();
  const std::vector<CpuStats> all_stats = final_stats(stats);
  std::vector<Region> regions(streams_.size());
  const std::uint64_t data_offset = align_to_page(trace_dat::encode_metadata(metadata_, all_stats, regions).size());
  std::uint64_t next = data_offset;
  for (std::size_t cpu = 0; cpu < streams_.size(); ++cpu) {
    regions[cpu] = {next, streams_[cpu].pages() * kPageSize};
    next += regions[cpu].size;
  }
  // Before the events, so that a process that is killed while it moves them leaves a file with most of them.
  LT_CHECK(write_metadata(all_stats, regions, data_offset));
  const Result<void> moved = move_streams(regions);
  if (!moved) LT_CHECK(write_metadata(all_stats, regions, data_offset));
  LT_CHECK(trace_dat::set_size(target_, end_of(regions, data_offset)));
  return moved;
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

Result<void> TraceDatWriter::write_metadata(const std::vector<CpuStats>& stats, const std::vector<Region>& regions,
                                            std::uint64_t data_offset) {
  const std::string bytes = trace_dat::encode_metadata(metadata_, stats, regions);
  LT_CHECK(trace_dat::write_at(target_, 0, std::as_bytes(std::span(bytes))));
  trace_dat::punch_hole(target_, bytes.size(), data_offset - bytes.size());
  return {};
}

// On an error `regions` are left as what has arrived.
Result<void> TraceDatWriter::move_streams(std::vector<Region>& regions) {
  Result<void> result;
  for (std::size_t cpu = 0; cpu < streams_.size(); ++cpu) {
    CpuStream& stream = streams_[cpu];
    if (!stream.is_open()) continue;
    std::uint64_t pages = 0;
    auto moved = stream.move_to(target_, regions[cpu].offset, pages);
    if (moved) {
      stream.remove_file();
      continue;
    }
    regions[cpu].size = pages * kPageSize;
    std::ignore = stream.flush();
    if (result) result = std::move(moved);
    result.error().message += fmt::format("; {} holds the pages from {} on", stream.path(), pages);
  }
  return result;
}

void TraceDatWriter::abandon() {
  const bool recorded =
      std::any_of(streams_.begin(), streams_.end(), [](const CpuStream& stream) { return stream.stats().entries > 0; });
  for (CpuStream& stream : streams_) {
    if (recorded) {
      std::ignore = stream.flush();
    } else {
      stream.remove_file();
    }
  }
  if (recorded) {
    std::ignore = trace_dat::set_size(target_, 0);
  } else {
    ::unlink(target_.path.c_str());
  }
}

}  // namespace landtrace::output
