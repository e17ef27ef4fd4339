#include "cli/export/killed_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "base/mapping.hpp"
#include "cli/export/being_written.hpp"
#include "output/chrome/writer.hpp"
#include "output/ctf/stream.hpp"
#include "output/ctf/writer.hpp"
#include "output/perfetto/proto.hpp"
#include "output/trace_dat/journal.hpp"
#include "output/trace_dat/names.hpp"

namespace landtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial";

// A write takes 256 KiB and the event that filled them up, whose payload of at most 64 KiB is some times that as text:
// more than this a recorder that was killed does not leave unfinished.
constexpr std::size_t kMostTorn = 1024 * 1024;

// Up to where it is whole, and what has to stand behind.
struct Whole {
  std::size_t size = 0;
  std::string_view end{};
  bool is_damaged = false;  // what is behind is no event that was being written
};

Whole whole_lines(std::string_view bytes) {
  const std::size_t size = bytes.rfind('\n') + 1;
  return {size, {}, bytes.size() - size > kMostTorn};
}

// Behind the last event: one that was being written, or of the end as much as had room, of whatever size.
bool is_torn(std::string_view tail, std::string_view separator, std::string_view list_end) {
  if (tail.starts_with(list_end) || list_end.starts_with(tail) || separator.starts_with(tail)) return true;
  return tail.starts_with(separator) && tail.find('\n', separator.size()) == std::string_view::npos &&
         tail.size() <= kMostTorn;
}

// A line an event, with commas between them.
Whole whole_events(std::string_view bytes) {
  using output::ChromeWriter;
  constexpr std::string_view kEnd = ChromeWriter::kEndWithoutFrames;
  constexpr std::string_view kListEnd = kEnd.substr(0, kEnd.find("]") + 2);
  std::size_t end = bytes.size();
  for (;;) {
    const std::size_t begin = bytes.substr(0, end).rfind('\n') + 1;
    const std::string_view line = bytes.substr(begin, end - begin);
    // Of the end that has no place on a full disk something may be there.
    const bool is_event = line.starts_with("{\"ph\"") && nlohmann::json::accept(line);
    if (is_event) return {end, kEnd, !is_torn(bytes.substr(end), ",\n", kListEnd)};
    // The line break in front is one of these.
    constexpr std::size_t kBegin = ChromeWriter::kBegin.size();
    if (begin == 0) return {kBegin, kEnd.substr(1), !is_torn(bytes.substr(kBegin), "", kListEnd.substr(1))};
    end = begin - 1;
    if (end > 0 && bytes[end - 1] == ',') --end;
  }
}

// `size_of` a packet at the beginning of bytes, or 0; `begins` tells whether they are the beginning of one.
Whole whole_packets(std::string_view bytes, std::size_t (*size_of)(std::string_view),
                    bool (*begins)(std::string_view)) {
  std::size_t at = 0;
  while (const std::size_t size = size_of(bytes.substr(at))) at += size;
  const std::string_view rest = bytes.substr(at);
  return {at, {}, rest.size() > kMostTorn || (!rest.empty() && !begins(rest))};
}

// All that is in a trace of perfetto's is Trace.packet.
bool begins_field(std::string_view bytes) { return bytes.front() == '\x0a'; }
std::size_t field_size(std::string_view bytes) {
  return !bytes.empty() && begins_field(bytes) ? output::proto::field_size(bytes) : 0;
}

bool is_folded(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::string_view count = line.substr(line.rfind(' ') + 1);
  return line.size() > count.size() + 1 && count.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<Whole> whole_part(std::string_view bytes) {
  if (bytes.starts_with(output::ChromeWriter::kBegin)) return whole_events(bytes);
  if (bytes.starts_with("{\"time\":") || bytes.starts_with("{\"lost\":")) return whole_lines(bytes);
  if (field_size(bytes) > 0) return whole_packets(bytes, field_size, begins_field);
  if (is_folded(bytes)) return whole_lines(bytes);
  return std::nullopt;
}

using Find = std::function<std::optional<Whole>(std::string_view)>;

Result<Fd> open_regular(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0) return fail_errno(path);
  if (!S_ISREG(st.st_mode)) return fail(EINVAL, path + " is not a regular file");
  return fd;
}

Result<Fd> open_folder(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return fail_errno(path);
  return fd;
}

// EBADMSG: there is more behind it than was being written.
Result<Whole> look(int fd, const std::string& path, const Find& find) {
  struct stat st {};
  if (::fstat(fd, &st) != 0) return fail_errno(path);
  if (st.st_size == 0) return fail(ENODATA, path + ": nothing of it had been written");
  const auto size = static_cast<std::size_t>(st.st_size);
  LT_TRY(const Mapping bytes, Mapping::map(fd, size, Mapping::Access::kReadOnly));
  const std::optional<Whole> whole = find({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!whole) return fail(EINVAL, path + " is of no format that can be read without its end");
  if (!whole->is_damaged) return *whole;
  return fail(EBADMSG, fmt::format("{0} is damaged at offset {1}: the {2} bytes from there on are no event that was "
                                   "being written; nothing was changed, and `truncate -s {1} {0}` drops them",
                                   path, whole->size, size - whole->size));
}

Result<void> cut(int fd, const Whole& whole) {
  if (::ftruncate(fd, static_cast<off_t>(whole.size)) != 0) return fail_errno("ftruncate");
  if (::lseek(fd, 0, SEEK_END) < 0) return fail_errno("lseek");
  return write_all(fd, whole.end.data(), whole.end.size());
}

Result<void> complete_file(int fd, const std::string& partial) {
  LT_TRY(const Whole whole, look(fd, partial, whole_part));
  return cut(fd, whole);
}

// Its packets say how long they are.
Whole whole_stream(std::string_view bytes) {
  return whole_packets(bytes, output::ctf::packet_size, output::ctf::begins_packet);
}

// What somebody else has put there is left alone.
Result<std::vector<std::string>> streams_in(const std::string& folder) {
  std::vector<std::string> streams;
  std::error_code error;
  for (fs::directory_iterator each(folder, error), end; !error && each != end; each.increment(error)) {
    const std::string name = each->path().filename();
    const bool is_stream = output::CtfWriter::is_file(name) && name != "metadata";
    std::error_code no_file;
    if (is_stream && !fs::is_empty(each->path(), no_file)) streams.push_back(each->path());
  }
  if (error) return fail(error.value(), folder + ": " + error.message());
  return streams;
}

// Nothing is changed before all of it was looked at.
Result<void> complete_folder(const std::string& partial) {
  const auto metadata = read_file(partial + "/metadata");
  if (!metadata || metadata->find("tracer_name = \"landtrace\"") == std::string::npos) {
    return fail(EINVAL, partial + " is no folder that was recorded");
  }
  LT_TRY(const std::vector<std::string> streams, streams_in(partial));
  for (const bool cuts : {false, true}) {
    for (const std::string& stream : streams) {
      LT_TRY(const Fd fd, open_regular(stream));
      LT_TRY(const Whole whole, look(fd.get(), stream, whole_stream));
      if (cuts) LT_CHECK(cut(fd.get(), whole));
    }
  }
  return {};
}

}  // namespace

std::string path_of_killed(const std::string& named) {
  std::string path = named;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path.ends_with(kPartial)) path.resize(path.size() - kPartial.size());
  std::error_code error;
  // A recording without --format has both; where an older one of its name has been removed, PATH.new. And it may itself
  // be called PATH.partial.
  using output::trace_dat::is_journal_at;
  const std::string partial = path + std::string(kPartial);
  const bool is_killed = !fs::exists(path, error) && fs::exists(partial, error) && !is_journal_at(partial) &&
                         !is_journal_at(output::trace_dat::new_path(path));
  return is_killed ? path : "";
}

Result<KilledOutput> KilledOutput::open(const std::string& path) {
  std::string partial = path + std::string(kPartial);
  auto fd = open_regular(partial);
  if (!fd && fd.error().code == EISDIR) fd = open_folder(partial);
  if (!fd) return tl::unexpected<Error>(std::move(fd).error());
  if (mark_as_being_written(fd->get(), partial)) return KilledOutput(*std::move(fd), path, std::move(partial));
  return fail(EBUSY, path + " is being recorded, or completed by another process");
}

Result<void> KilledOutput::complete() {
  struct stat st {};
  if (::fstat(fd_.get(), &st) != 0) return fail_errno(partial_);
  return S_ISDIR(st.st_mode) ? complete_folder(partial_) : complete_file(fd_.get(), partial_);
}

Result<void> KilledOutput::give_name() {
  auto renamed = output::trace_dat::rename_to_free(partial_, path_);
  if (renamed || renamed.error().code != EEXIST) return renamed;
  return fail(EEXIST,
              fmt::format("{} is there by now; what was completed is {}: move one of them elsewhere", path_, partial_));
}

Result<void> complete_killed(const std::string& path) {
  LT_TRY(KilledOutput killed, KilledOutput::open(path));
  LT_CHECK(killed.complete());
  return killed.give_name();
}

}  // namespace landtrace::cli
