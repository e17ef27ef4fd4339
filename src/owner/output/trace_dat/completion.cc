// The writer of a recording that another one has left unfinished. Who completes it may be another user than who
// recorded it, and others may write in its folder: what is opened there is the recording's, or nothing is done.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "output/trace_dat/contents.hpp"
#include "output/trace_dat/names.hpp"
#include "output/trace_dat/place.hpp"
#include "output/trace_dat/reader.hpp"
#include "output/trace_dat/writer.hpp"

namespace landtrace::output {

using trace_dat::CpuStream;
using trace_dat::InputFile;
using trace_dat::Journal;
using trace_dat::kPageSize;
using trace_dat::NamedFile;
using trace_dat::Region;

namespace {

Result<uid_t> owner_of(const NamedFile& file) {
  struct stat status {};
  if (::fstat(file.fd.get(), &status) != 0) return fail_errno("stat " + file.path);
  return status.st_uid;
}

// What another user's file has would become this recording's, which others may read.
Result<void> check_owner(const NamedFile& file, const NamedFile& journal) {
  LT_TRY(const uid_t owner, owner_of(file));
  LT_TRY(const uid_t recorder, owner_of(journal));
  if (owner == recorder) return {};
  return fail(EPERM,
              fmt::format("{} is of another user than {}, and so no file of this recording", file.path, journal.path));
}

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
    if (record.cpu >= all.size()) return trace_dat::is_busy(path);
    CpuStats& stats = all[record.cpu];
    if (stats.entries++ == 0) stats.oldest_event_ns = record.time_ns;
    stats.now_ns = record.time_ns;
    stats.bytes += abi::kEntryHeaderSize + record.payload.size();
  }
}

// Its recorder may live: its pages are not moved under its hands.
Result<void> lock_left(const NamedFile& journal) {
  const auto locked = trace_dat::lock(journal);
  if (locked || locked.error().code == EBUSY) return locked;
  return fail(locked.error().code, fmt::format("whether {} is being recorded cannot be told: {}; copy it and the files "
                                               "beside it to a file system with locks, and complete it there",
                                               journal.path, locked.error().message));
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
    LT_CHECK(lock_left(file));
    // Until now its recorder may have put the finished one in its place.
    if (trace_dat::is_at(there.fd(), path) && trace_dat::is_at(file.fd.get(), path)) return file;
  }
  return trace_dat::is_busy(path);
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
    if (trace_dat::has_writer(journal)) return trace_dat::is_being_written(beside);
    if (path != named || trace_dat::has_left_pages(path)) place = beside;
  }
  LT_TRY(NamedFile journal, open_left_journal(place));
  return Left{std::move(path), std::move(journal)};
}

}  // namespace

namespace {

// What cannot be read of it goes into no finished recording. Its own name it loses to that.
Result<void> keep_damaged(const NamedFile& journal, const std::string& kept) {
  if (trace_dat::is_at(journal.fd.get(), kept) || ::link(journal.path.c_str(), kept.c_str()) == 0) return {};
  return fail_errno(fmt::format("{} is damaged, and cannot be kept as {}", journal.path, kept));
}

}  // namespace

Result<Completed> complete_recording(const std::string& named) {
  LT_TRY(auto opened, open_left(trace_dat::follow_links(named, false)));
  auto& [path, file] = opened;
  LT_TRY(InputFile input, InputFile::open(file.path));
  LT_TRY(trace_dat::Unfinished left, trace_dat::read_journal(input));
  TraceDatWriter writer(path, Journal(std::move(file), left.journal_size), {.cpus = left.cpus, .spare = left.spare});
  writer.finished_ = true;
  writer.metadata_ = std::move(left.metadata);
  writer.is_damaged_ = left.damaged_at.has_value();
  LT_CHECK(writer.complete_left());
  return Completed{path, writer.has_replaced(), left.damaged_at};
}

// `regions`: as they are moved to; none where that has not begun.
Result<void> TraceDatWriter::open_left_streams(const std::vector<Region>& regions) {
  for (std::uint32_t cpu = 0; cpu < streams_.size(); ++cpu) {
    auto file = trace_dat::open_own(trace_dat::stream_path(path_, cpu));
    if (!file && file.error().code == ENOENT) continue;
    if (!file) return tl::unexpected<Error>(std::move(file).error());
    LT_CHECK(check_owner(*file, journal_.file()));
    std::optional<std::uint64_t> pages;
    if (cpu < regions.size()) pages = regions[cpu].size / kPageSize;
    LT_CHECK(streams_[cpu].open_left(*std::move(file), pages));
  }
  return {};
}

// It is his own where another user than the recorder began to complete it.
Result<void> TraceDatWriter::check_left_partial() const {
  LT_TRY(const uid_t owner, owner_of(partial_));
  return owner == ::geteuid() ? Result<void>() : check_owner(partial_, journal_.file());
}

Result<void> TraceDatWriter::complete_left() {
  LT_CHECK(trace_dat::check_left_files(place(), path_, streams_.size()));
  LT_TRY(auto claimed, trace_dat::claim(path_));
  partial_ = std::move(claimed.partial);
  auto completed = complete_claimed(claimed.is_new);
  struct stat status {};
  const bool is_empty = ::fstat(partial_.fd.get(), &status) == 0 && status.st_size == 0;
  if (!completed && claimed.is_new && is_empty) trace_dat::remove_own(partial_);
  return completed;
}

// `is_new`: PATH.partial was not there.
Result<void> TraceDatWriter::complete_claimed(bool is_new) {
  LT_TRY(std::vector<Region> regions, trace_dat::regions_begun(path_));
  if (!regions.empty()) LT_CHECK(check_left_partial());
  if (regions.empty() && !trace_dat::is_unused(partial_.path)) return trace_dat::is_in_the_way(partial_.path);
  LT_CHECK(open_left_streams(regions));
  // Of a recorder that was killed with all events in memory.
  if (kept_older() && std::filesystem::exists(path_) && regions.empty() && !has_events()) {
    remove_files();
    return fail(EALREADY, path_ + " is complete");
  }
  if (is_damaged_) LT_CHECK(keep_damaged(journal_.file(), path_ + ".damaged"));
  const Result<void> placed = take_place();
  if (regions.empty()) {
    if (!is_new) LT_CHECK(trace_dat::renew(partial_));
    LT_TRY(const std::vector<CpuStats> stats, count_events(place(), streams_));
    for (std::size_t cpu = 0; cpu < stats.size(); ++cpu) streams_[cpu].set_left_stats(stats[cpu]);
    drop_empty_spares();
    LT_TRY(regions, write_metadata({}));
  }
  LT_CHECK(complete(regions));
  return say_place(placed);
}

}  // namespace landtrace::output
