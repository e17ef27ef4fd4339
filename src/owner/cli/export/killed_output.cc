#include "cli/export/killed_output.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/mapping.hpp"
#include "cli/export/being_written.hpp"
#include "output/chrome/writer.hpp"
#include "output/ctf/stream.hpp"
#include "output/perfetto/proto.hpp"
#include "output/trace_dat/journal.hpp"

namespace landtrace::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial";

// Up to where it is whole, and what has to stand behind.
struct Whole {
  std::size_t size = 0;
  std::string_view end{};
};

Whole whole_lines(std::string_view bytes) { return {bytes.rfind('\n') + 1}; }

// A line an event, with commas between them.
Whole whole_events(std::string_view bytes) {
  std::size_t end = bytes.size();
  for (;;) {
    const std::size_t begin = bytes.substr(0, end).rfind('\n') + 1;
    const std::string_view line = bytes.substr(begin, end - begin);
    // Of the end that has no place on a full disk something may be there.
    const bool is_event = line.starts_with("{\"ph\"") && nlohmann::json::accept(line);
    if (is_event) return {end, output::ChromeWriter::kEndWithoutFrames};
    // The line break in front is one of these.
    if (begin == 0) return {output::ChromeWriter::kBegin.size(), output::ChromeWriter::kEndWithoutFrames.substr(1)};
    end = begin - 1;
    if (end > 0 && bytes[end - 1] == ',') --end;
  }
}

Whole whole_packets(std::string_view bytes) {
  std::size_t at = 0;
  while (const std::size_t size = output::proto::field_size(bytes.substr(at))) at += size;
  return {at};
}

bool is_folded(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  const std::string_view count = line.substr(line.rfind(' ') + 1);
  return line.size() > count.size() + 1 && count.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<Whole> whole_part(std::string_view bytes) {
  if (bytes.starts_with(output::ChromeWriter::kBegin)) return whole_events(bytes);
  if (bytes.starts_with("{\"time\":") || bytes.starts_with("{\"lost\":")) return whole_lines(bytes);
  if (output::proto::field_size(bytes) > 0) return whole_packets(bytes);
  if (is_folded(bytes)) return whole_lines(bytes);
  return std::nullopt;
}

Result<void> cut(int fd, const Whole& whole) {
  if (::ftruncate(fd, static_cast<off_t>(whole.size)) != 0) return fail_errno("ftruncate");
  if (::lseek(fd, 0, SEEK_END) < 0) return fail_errno("lseek");
  return write_all(fd, whole.end.data(), whole.end.size());
}

Result<void> complete_file(const std::string& partial,
                           const std::function<std::optional<Whole>(std::string_view)>& find) {
  const Fd fd(::open(partial.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0) return fail_errno(partial);
  if (st.st_size == 0) return fail(ENODATA, partial + ": nothing of it had been written");
  std::optional<Whole> whole;
  {
    const auto size = static_cast<std::size_t>(st.st_size);
    LT_TRY(const Mapping bytes, Mapping::map(fd.get(), size, Mapping::Access::kReadOnly));
    whole = find({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  if (!whole) return fail(EINVAL, partial + " is of no format that can be read without its end");
  return cut(fd.get(), *whole);
}

// Its packets say how long they are.
Result<void> complete_folder(const std::string& partial) {
  std::error_code error;
  if (!fs::exists(partial + "/metadata", error)) return fail(EINVAL, partial + " is no folder that was recorded");
  for (fs::directory_iterator each(partial, error), end; !error && each != end; each.increment(error)) {
    if (each->path().filename() == "metadata" || fs::is_empty(each->path())) continue;
    LT_CHECK(complete_file(each->path(), [](std::string_view bytes) {
      Whole whole;
      while (const std::size_t size = output::ctf::packet_size(bytes.substr(whole.size))) whole.size += size;
      return std::optional(whole);
    }));
  }
  if (error) return fail(error.value(), partial + ": " + error.message());
  return {};
}

}  // namespace

std::string path_of_killed(const std::string& named) {
  std::string path = named;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  if (path.ends_with(kPartial)) path.resize(path.size() - kPartial.size());
  std::error_code error;
  // A recording without --format has both; where an older one of its name has been removed, PATH.new.
  const bool is_killed = !fs::exists(path, error) && fs::exists(path + std::string(kPartial), error) &&
                         !output::trace_dat::is_journal_at(output::trace_dat::new_path(path));
  return is_killed ? path : "";
}

Result<void> complete_killed(const std::string& path) {
  const std::string partial = path + std::string(kPartial);
  if (is_being_written(partial)) return fail(EBUSY, path + " is being recorded");
  LT_CHECK(fs::is_directory(partial) ? complete_folder(partial) : complete_file(partial, whole_part));
  if (std::rename(partial.c_str(), path.c_str()) != 0) return fail_errno(path);
  return {};
}

}  // namespace landtrace::cli
