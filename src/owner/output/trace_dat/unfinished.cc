// The contents of a recording that is not finished: its journal, and the streams beside it.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "output/trace_dat/contents.hpp"
#include "output/trace_dat/cpu_stream.hpp"
#include "output/trace_dat/journal.hpp"
#include "output/trace_dat/page_format.hpp"

namespace landtrace::output::trace_dat {
namespace {

CpuStats stats_of(const InputFile& stream) {
  StreamCounters counters{};
  if (!stream.read(kCountersAt, std::as_writable_bytes(std::span(&counters, 1)), "counters")) return {};
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

bool is_trace_file(const InputFile& file) {
  std::array<std::byte, kMagic.size()> first{};
  return file.read(0, first, "beginning") && std::memcmp(first.data(), kMagic.data(), first.size()) == 0;
}

namespace {

// The file that it all is moved to, where that has begun.
struct Begun {
  std::shared_ptr<InputFile> partial;
  Contents contents;  // without regions: it has not
};

// Null where it is not there, or is no file. One that cannot be opened (another user's, or no descriptor is left) may
// have events.
Result<std::shared_ptr<InputFile>> open_if_there(const std::string& path) {
  auto file = InputFile::open(path);
  if (file) return std::make_shared<InputFile>(*std::move(file));
  if (file.error().code == ENOENT || file.error().code == EINVAL) return nullptr;
  return tl::unexpected<Error>(std::move(file).error());
}

Result<Begun> begun_at(const std::string& path) {
  LT_TRY(std::shared_ptr<InputFile> partial, open_if_there(partial_path(path)));
  if (!partial) return Begun{};
  auto contents = read_contents(*partial);
  if (contents) return Begun{std::move(partial), *std::move(contents)};
  const int code = contents.error().code;
  if (code == EBADMSG || code == ENOTSUP) return Begun{};  // it is no trace file yet, or that of others
  return fail(code, partial_path(path) + ": " + contents.error().message);
}

// 0: it has no header yet, or there is none.
std::uint64_t last_page_used(const InputFile& stream) {
  const std::uint64_t pages = pages_in_stream(stream.size());
  if (pages == 0) return 0;
  std::uint64_t commit = 0;
  const std::uint64_t at = kStreamStart + (pages - 1) * kPageSize + kCommitAt;
  return stream.read(at, std::as_writable_bytes(std::span(&commit, 1)), "a page header") ? commit & kCommitMask : 0;
}

}  // namespace

Result<std::vector<Region>> regions_begun(const std::string& path) {
  LT_TRY(const Begun begun, begun_at(path));
  std::vector<Region> regions;
  for (const CpuRegion& region : begun.contents.regions) regions.push_back({region.offset, region.size});
  return regions;
}

bool has_left_pages(const std::string& path) {
  if (const auto regions = regions_begun(path); !regions || !regions->empty()) return true;
  for (std::uint32_t cpu = 0; cpu < kMaxCpus; ++cpu) {
    std::error_code error;
    const auto size = std::filesystem::file_size(stream_path(path, cpu), error);
    if (!error && size > kStreamStart) return true;
  }
  return false;
}

bool has_no_beginning(const InputFile& file) {
  std::array<std::byte, kMagic.size()> first{};
  return file.read(0, first, "beginning") &&
         std::all_of(first.begin(), first.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

// Which files there are tells: each recorder makes PATH.partial before its journal begins.
std::string recording_of(const std::string& journal) {
  const std::string suffix = new_path("");
  if (!journal.ends_with(suffix)) return journal;
  const std::string path = journal.substr(0, journal.size() - suffix.size());
  const auto has_files = [](const std::string& at) {
    std::error_code error;
    return std::filesystem::exists(partial_path(at), error) || has_left_pages(at);
  };
  return !has_files(journal) && has_files(path) && !is_journal_at(path) ? path : journal;
}

bool has_begun(const std::string& journal) {
  const auto partial = InputFile::open(partial_path(recording_of(journal)));
  return partial && is_trace_file(*partial);
}

// A recorder makes PATH.partial before its journal begins, and all its events are beside that.
Result<void> check_left_files(const std::string& journal, const std::string& path, std::size_t streams) {
  const auto is_there = [](const std::string& file) {
    struct stat status {};
    return ::lstat(file.c_str(), &status) == 0;
  };
  if (is_there(partial_path(path))) return {};
  for (std::uint32_t cpu = 0; cpu < streams; ++cpu) {
    if (is_there(stream_path(path, cpu))) return {};
  }
  return fail(ENOENT, fmt::format("{0} is of an unfinished recording, and its events are not beside it, in {1}.cpu0 "
                                  "and others: move them together, or remove it",
                                  journal, path));
}

Result<Contents> read_unfinished(InputFile& file, const std::string& journal) {
  const std::string path = recording_of(journal);
  LT_TRY(Unfinished left, read_journal(file));
  Contents contents;
  contents.is_unfinished = true;
  contents.page_size = kPageSize;
  contents.cpus = left.cpus;

  // First the streams: one that is not there any more has become the partial file by then, or has its last page there.
  std::vector<std::shared_ptr<InputFile>> streams(left.cpus + left.spare);
  std::vector<std::uint64_t> last_used(streams.size());
  for (std::uint32_t cpu = 0; cpu < streams.size(); ++cpu) {
    LT_TRY(streams[cpu], open_if_there(stream_path(path, cpu)));
    if (streams[cpu]) last_used[cpu] = last_page_used(*streams[cpu]);
  }
  LT_TRY(const Begun begun, begun_at(path));
  for (std::uint32_t cpu = 0; cpu < streams.size(); ++cpu) {
    const bool is_begun = cpu < begun.contents.regions.size();
    const bool is_partial = !streams[cpu] && is_begun && begun.contents.regions[cpu].size > 0;
    if (!streams[cpu] && !is_partial) continue;
    contents.cpus = std::max(contents.cpus, cpu + 1);
    contents.stats.resize(contents.cpus);
    contents.stats[cpu] = stats_of(is_partial ? *begun.partial : *streams[cpu]);
    CpuRegion region{cpu, kStreamStart, 0};
    if (is_begun) {
      region.size = begun.contents.regions[cpu].size;
      region.moved_to = begun.partial;
      region.moved_offset = begun.contents.regions[cpu].offset;
    } else {
      region.size = pages_in_stream(streams[cpu]->size()) * kPageSize;
      region.last_page_used = last_used[cpu];
    }
    region.stream = is_partial ? begun.partial : streams[cpu];
    contents.regions.push_back(std::move(region));
  }
  contents.stats.resize(contents.cpus);
  if (contents.regions.empty()) LT_CHECK(check_left_files(journal, path, streams.size()));

  // Behind the streams: an event is described before it is in one.
  LT_CHECK(read_more(file, left));
  contents.clock = std::move(left.metadata.clock);
  contents.events = std::move(left.metadata.events);
  contents.tasks.insert(left.metadata.tasks.begin(), left.metadata.tasks.end());
  contents.objects = std::move(left.metadata.objects);
  contents.wall_offset_ns = left.metadata.wall_offset_ns;
  contents.horizon_ns = left.horizon_ns;
  contents.damaged_at = left.damaged_at;
  return contents;
}

}  // namespace landtrace::output::trace_dat
