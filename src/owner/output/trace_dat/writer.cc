#include "output/trace_dat/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "output/trace_dat/contents.hpp"
#include "output/trace_dat/reader.hpp"

namespace landtrace::output {

using trace_dat::CpuStream;
using trace_dat::InputFile;
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

tl::unexpected<Error> is_being_written(const std::string& path) {
  return fail(EBUSY, path + " is being written by another process");
}

// `journal`: where it is. The recording is to be at `path`.
tl::unexpected<Error> was_left(const std::string& journal, const std::string& path) {
  return fail(EEXIST, fmt::format("{} is a recording that was not finished; `landtrace recover {}` completes it",
                                  journal, path));
}

// Others ask for this lock, too: see trace_dat::has_writer().
Result<void> lock(const NamedFile& file) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  if (::fcntl(file.fd.get(), F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)) {
    return is_being_written(file.path);
  }
  return {};
}

tl::unexpected<Error> is_busy(const std::string& path) {
  return fail(EBUSY, path + " is being replaced by another process");
}

// Creates it where it is not there. It has the name still: whoever had the lock until then may have given that to
// another file.
Result<NamedFile> open_locked(const std::string& path) {
  for (int i = 0; i < trace_dat::kMostTries; ++i) {
    LT_TRY(NamedFile file, trace_dat::open_for_writing(path));
    LT_CHECK(lock(file));
    if (trace_dat::is_at(file.fd.get(), path)) return file;
  }
  return is_busy(path);
}

bool swap_names(const std::string& a, const std::string& b) {
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

Result<void> rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return fail_errno("rename " + from + " to " + to);
  return {};
}

// rename() in place of another file has ext4 write out all of the new one first, so that a power failure does not leave
// an empty one: a second for 1.5 GB. The same without that, where nobody needs what is at `to`:
Result<void> rename_over_unused(const std::string& from, const std::string& to) {
  trace_dat::remove_aside(to);
  return rename_file(from, to);
}

// and where there is to be one of the two at every moment. `replaced` is the descriptor of the one that goes: from then
// on the next recorder may begin, and have another file of that name.
Result<void> replace_file(const std::string& from, const std::string& to, int replaced) {
  if (!swap_names(from, to)) return rename_file(from, to);
  if (trace_dat::is_at(replaced, from)) ::unlink(from.c_str());
  return {};
}

// Whether a file can be renamed, or another be renamed to it. rmdir(2) asks for the right to remove it, and only then
// finds that it is no folder.
Result<void> check_can_go(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (S_ISDIR(status.st_mode)) return fail(EISDIR, path + " is a folder");
  if (::rmdir(path.c_str()) == 0 || (errno != EPERM && errno != EACCES)) return {};
  return fail_errno(path + " cannot be moved away");
}

Result<std::string> beside_older(const std::string& path) {
  auto can = check_can_go(path);
  if (can) can = check_can_go(trace_dat::old_path(path));
  if (can) return trace_dat::new_path(path);
  return fail(can.error().code, fmt::format("{0}; the older recording {1} is to become {1}.old: move one of them "
                                            "elsewhere, or record to another file",
                                            can.error().message, path));
}

// Where the journal is to be: at the path itself, or beside what is there.
Result<std::string> journal_place(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path;
  if (S_ISDIR(status.st_mode)) return fail_errno("open " + path, EISDIR);
  if (!S_ISREG(status.st_mode)) return fail(EINVAL, path + " is not a regular file");
  if (::access(path.c_str(), W_OK) != 0) return fail_errno("open " + path);
  if (status.st_size == 0) return path;
  LT_TRY(const InputFile there, InputFile::open(path));
  LT_CHECK(trace_dat::refuse_other_version(there, path));
  if (!trace_dat::is_journal(there)) return beside_older(path);
  LT_TRY(const NamedFile file, trace_dat::open_existing(path));
  LT_CHECK(lock(file));
  return was_left(path, path);
}

// Whether nothing is lost with it: it is empty, or as a recorder that was killed has left it. Others have files of
// these names, too: trace-cmd those of CPUs, record --format PATH.partial.
bool is_unused(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(status)) return true;
  if (!std::filesystem::is_regular_file(status)) return false;
  const auto file = InputFile::open(path);
  if (!file || (file->size() > 0 && !trace_dat::has_no_beginning(*file))) return false;
  return ::flock(file->fd(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK;  // record --format holds one
}

tl::unexpected<Error> is_in_the_way(const std::string& path) {
  return fail(EEXIST, path + " is in the way; move it elsewhere");
}

Result<void> check_others_files(const std::string& path, std::uint32_t streams) {
  // What has been completed has changed names with its journal.
  const std::string partial = trace_dat::partial_path(path);
  const bool was_journal =
      trace_dat::is_journal_at(partial) && !std::filesystem::exists(trace_dat::partial_path(partial));
  if (!was_journal && !is_unused(partial)) return is_in_the_way(partial);
  for (std::uint32_t cpu = 0; cpu < streams; ++cpu) {
    if (const std::string file = trace_dat::stream_path(path, cpu); !is_unused(file)) return is_in_the_way(file);
  }
  return {};
}

// A recorder that found an older recording is at PATH.new, with the same names for its streams, also when the older one
// has been removed since.
Result<void> check_beside(const std::string& path) {
  const std::string beside = trace_dat::new_path(path);
  std::error_code error;
  if (!std::filesystem::is_regular_file(beside, error)) return {};
  LT_TRY(const InputFile file, InputFile::open(beside));
  // Asked first: one that has just begun is no journal yet.
  if (trace_dat::has_writer(file)) return is_being_written(beside);
  LT_CHECK(trace_dat::refuse_other_version(file, beside));
  if (!trace_dat::is_journal(file)) return {};
  if (trace_dat::has_left_pages(path)) return was_left(beside, path);
  ::unlink(beside.c_str());
  return {};
}

// Whether the new recording's journal, locked, may begin in this file. What a recorder left beside an older recording
// that was killed before its first event is taken over.
Result<void> check_place(const std::string& path, const NamedFile& file, std::uint32_t streams) {
  struct stat status {};
  if (::fstat(file.fd.get(), &status) != 0) return fail_errno("stat " + file.path);
  if (!S_ISREG(status.st_mode)) return fail(EINVAL, file.path + " is not a regular file");
  if (file.path == path) {
    // Nobody had it a moment ago.
    if (status.st_size != 0) return is_busy(path);
    LT_CHECK(check_beside(path));
  } else {
    // Who had the lock may have taken the place since it was looked at.
    LT_TRY(const std::string place, journal_place(path));
    if (place != file.path) return is_busy(path);
    LT_TRY(const InputFile there, InputFile::open(file.path));
    LT_CHECK(trace_dat::refuse_other_version(there, file.path));
    const bool is_journal = trace_dat::is_journal(there);
    if (is_journal && trace_dat::has_left_pages(path)) return was_left(file.path, path);
    if (status.st_size != 0 && !is_journal) return is_in_the_way(file.path);
  }
  return check_others_files(path, streams);
}

// The new recording's journal, locked and empty.
Result<NamedFile> open_journal(const std::string& path, std::uint32_t streams) {
  LT_TRY(const std::string place, journal_place(path));
  const bool was_there = std::filesystem::exists(place);
  LT_TRY(NamedFile file, open_locked(place));
  if (auto checked = check_place(path, file, streams); !checked) {
    struct stat status {};
    const bool is_empty = ::fstat(file.fd.get(), &status) == 0 && status.st_size == 0;
    if (is_empty && (place != path || !was_there)) ::unlink(place.c_str());
    return tl::unexpected<Error>(std::move(checked).error());
  }
  LT_CHECK(trace_dat::set_size(file, 0));
  return file;
}

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

Result<TraceDatWriter> TraceDatWriter::create(const std::string& path, Options options) {
  if (options.cpus == 0 || options.cpus > trace_dat::kMaxCpus || options.spare > trace_dat::kMaxCpus - options.cpus) {
    return fail(EINVAL,
                fmt::format("{} CPUs: a trace file has 1 to {}", options.cpus + options.spare, trace_dat::kMaxCpus));
  }
  const std::uint32_t streams = options.cpus + options.spare;
  LT_TRY(NamedFile file, open_journal(path, streams));
  TraceDatWriter writer(path, Journal(std::move(file), 0), std::move(options));
  LT_CHECK(writer.open_partial());
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

Result<void> TraceDatWriter::open_partial() {
  LT_TRY(partial_, trace_dat::open_anew(trace_dat::partial_path(path_)));
  return {};
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
  if (swap_names(now, path_)) {
    journal_.renamed(path_);
    if (auto moved = rename_over_unused(now, old); !moved) {
      if (!swap_names(now, path_)) {
        return fail(moved.error().code, fmt::format("{}; the older recording is {}", moved.error().message, now));
      }
      journal_.renamed(now);
      return moved;
    }
    replaced_ = true;
  } else if (errno == EINVAL || errno == ENOSYS || errno == ENOENT) {  // not on this file system; or PATH is gone
    const bool is_there = ::access(path_.c_str(), F_OK) == 0;
    if (is_there) LT_CHECK(rename_over_unused(path_, old));
    if (auto moved = rename_file(now, path_); !moved) {
      if (is_there) std::ignore = rename_file(old, path_);
      return moved;
    }
    journal_.renamed(path_);
    replaced_ = is_there;
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
  const auto longest =
      std::max_element(streams_.begin(), streams_.end(),
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
  // From here on readers find its events in PATH.partial.
  LT_CHECK(rename_over_unused(file->path, partial_.path));
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
    return replace_file(partial_.path, place(), journal_.file().fd.get());
  }();
  if (!completed) {
    return fail(completed.error().code,
                fmt::format("{}; the recording can be read as it is{}; `landtrace recover {}` completes it when there "
                            "is room",
                            completed.error().message, kept_older() ? ", at " + place() : "", path_));
  }
  for (CpuStream& stream : streams_) stream.remove_file();
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
  if (partial_.fd) ::unlink(partial_.path.c_str());
  ::unlink(journal_.file().path.c_str());
}

// `regions`: as they are moved to; none where that has not begun.
Result<void> TraceDatWriter::open_left_streams(const std::vector<Region>& regions) {
  for (std::uint32_t cpu = 0; cpu < streams_.size(); ++cpu) {
    const std::string path = trace_dat::stream_path(path_, cpu);
    if (!std::filesystem::exists(path)) continue;
    std::optional<std::uint64_t> pages;
    if (cpu < regions.size()) pages = regions[cpu].size / kPageSize;
    LT_CHECK(streams_[cpu].open_left(path, pages));
  }
  return {};
}

namespace {

// What there is, event by event: a writer that was killed may not have come to count its last ones. The counters have
// the rest.
Result<std::vector<CpuStats>> count_events(const std::string& path, const std::vector<CpuStream>& streams) {
  std::vector<CpuStats> all;
  for (const CpuStream& stream : streams) all.push_back(stream.stats());
  LT_TRY(TraceDatReader reader, TraceDatReader::open(path));
  while (true) {
    const auto item = reader.next();
    if (!item) continue;  // a damaged page ends its CPU, and the others go on
    if (!*item) return all;
    const Record& record = (*item)->record;
    if (record.cpu >= all.size()) return is_busy(path);
    CpuStats& stats = all[record.cpu];
    if (stats.entries++ == 0) stats.oldest_event_ns = record.time_ns;
    stats.now_ns = record.time_ns;
    stats.bytes += abi::kEntryHeaderSize + record.payload.size();
  }
}

// The journal at the path, locked. EALREADY: there is a finished recording.
Result<NamedFile> open_left_journal(const std::string& path) {
  for (int i = 0; i < trace_dat::kMostTries; ++i) {
    LT_TRY(const InputFile there, InputFile::open(path));
    if (!trace_dat::is_journal(there)) {
      LT_TRY([[maybe_unused]] const TraceDatReader reader, TraceDatReader::open(path));
      return fail(EALREADY, path + " is complete");
    }
    LT_TRY(NamedFile file, trace_dat::open_existing(path));
    LT_CHECK(lock(file));
    // Until now its recorder may have put the finished one in its place.
    if (trace_dat::is_at(there.fd(), path) && trace_dat::is_at(file.fd.get(), path)) return file;
  }
  return is_busy(path);
}

// Of one that was left at PATH or PATH.new: the path that it is to be at, and its journal.
struct Left {
  std::string path;
  NamedFile journal;
};

Result<Left> open_left(const std::string& named) {
  std::string path = trace_dat::recording_of(named);
  std::string place = path;
  if (const std::string beside = trace_dat::new_path(path);
      !trace_dat::is_journal_at(path) && trace_dat::is_journal_at(beside)) {
    LT_TRY(const InputFile journal, InputFile::open(beside));
    if (trace_dat::has_writer(journal)) return is_being_written(beside);
    if (path != named || trace_dat::has_left_pages(path)) place = beside;
  }
  LT_TRY(NamedFile journal, open_left_journal(place));
  return Left{std::move(path), std::move(journal)};
}

}  // namespace

Result<Completed> complete_recording(const std::string& named) {
  LT_TRY(auto opened, open_left(named));
  auto& [path, file] = opened;
  LT_TRY(const InputFile input, InputFile::open(file.path));
  LT_TRY(trace_dat::Unfinished left, trace_dat::read_journal(input));
  TraceDatWriter writer(path, Journal(std::move(file), left.journal_size), {.cpus = left.cpus, .spare = left.spare});
  writer.finished_ = true;
  writer.metadata_ = std::move(left.metadata);
  LT_CHECK(writer.complete_left());
  return Completed{path, writer.has_replaced()};
}

Result<void> TraceDatWriter::complete_left() {
  LT_TRY(std::vector<Region> regions, trace_dat::regions_begun(path_));
  LT_CHECK(open_left_streams(regions));
  // Of a recorder that was killed with all events in memory.
  if (kept_older() && std::filesystem::exists(path_) && regions.empty() && !has_events()) {
    remove_files();
    return fail(EALREADY, path_ + " is complete");
  }
  const Result<void> placed = take_place();
  if (!regions.empty()) {
    LT_TRY(partial_, trace_dat::open_for_writing(trace_dat::partial_path(path_)));
  } else {
    LT_CHECK(open_partial());
    LT_TRY(const std::vector<CpuStats> stats, count_events(place(), streams_));
    for (std::size_t cpu = 0; cpu < stats.size(); ++cpu) streams_[cpu].set_left_stats(stats[cpu]);
    drop_empty_spares();
    LT_TRY(regions, write_metadata({}));
  }
  LT_CHECK(complete(regions));
  return say_place(placed);
}

}  // namespace landtrace::output
