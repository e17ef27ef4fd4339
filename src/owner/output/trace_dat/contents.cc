#include "output/trace_dat/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "event/description.hpp"
#include "output/trace_dat/object_lines.hpp"

namespace landtrace::output::trace_dat {
namespace {

constexpr std::uint32_t kMinPageSize = 4096;
constexpr std::uint32_t kMaxPageSize = 1024 * 1024;

Result<void> read_formats(FileCursor& cursor, const std::string& system, Contents& contents) {
  LT_TRY(const auto count, cursor.number<std::uint32_t>("number of formats"));
  for (std::uint32_t i = 0; i < count; ++i) {
    LT_TRY(const auto size, cursor.number<std::uint64_t>("size of a format"));
    const std::uint64_t start = cursor.offset();
    LT_TRY(std::string text, cursor.text(size, "format"));
    auto parsed = event::parse_format(text, system);
    if (!parsed) {
      return fail(EBADMSG, fmt::format("event format of {} at offset {}: {}", system, start, parsed.error().message));
    }
    if (parsed->id > 0xffff) return fail(EBADMSG, fmt::format("event id {} at offset {}", parsed->id, start));
    const auto id = static_cast<std::uint16_t>(parsed->id);
    std::string name = parsed->declaration.name;
    contents.events.insert_or_assign(
        id, EventType{id, system, std::move(name), std::move(parsed->declaration), std::move(text)});
  }
  return {};
}

// Calls take(number, rest) for each line "NUMBER REST". Other lines are ignored.
template <typename Take>
void for_each_numbered_line(std::string_view text, Take take) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find_first_of(std::string_view("\n\0", 2)));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    const auto digits = static_cast<std::size_t>(end - line.data());
    if (error == std::errc() && digits < line.size() && *end == ' ') take(number, line.substr(digits + 1));
  }
}

void take_cpu_stat(std::string_view text, Contents& contents) {
  constexpr std::string_view kStart = "CPU: ";
  if (!text.starts_with(kStart)) return;
  text.remove_prefix(kStart.size());
  std::uint32_t cpu = kMaxCpus;
  std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (cpu >= kMaxCpus) return;
  if (contents.stats.size() <= cpu) contents.stats.resize(cpu + 1);
  contents.stats[cpu] = parse_cpu_stats(text);
}

std::optional<std::int64_t> parse_wall_offset(std::string_view text) {
  std::int64_t offset = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), offset);
  return error == std::errc() && is_plausible_wall_offset(offset) ? std::optional(offset) : std::nullopt;
}

// Gives the file version.
Result<int> read_start(FileCursor& cursor, Contents& contents) {
  LT_CHECK(cursor.expect(kMagic, "trace.dat signature"));
  LT_TRY(const std::string text, cursor.terminated("file version"));
  const int version = text.size() == 1 ? text[0] - '0' : 0;
  if (version != 6 && version != 7) {
    return fail(ENOTSUP, "file version " + text.substr(0, 16) + "; versions 6 and 7 are read");
  }
  LT_TRY(const auto endian, cursor.number<std::uint8_t>("byte order"));
  if (endian != 0) return fail(ENOTSUP, "a trace file of a big-endian machine");
  LT_TRY(const auto long_size, cursor.number<std::uint8_t>("size of long"));
  if (long_size != 8) return fail(ENOTSUP, fmt::format("a trace file of a machine with {}-byte long", long_size));
  LT_TRY(contents.page_size, cursor.number<std::uint32_t>("page size"));
  LT_CHECK(check_page_size(contents.page_size, cursor));
  return version;
}

}  // namespace

Result<Contents> read_contents(const InputFile& file) {
  Contents contents;
  FileCursor cursor(file, 0, file.size());
  if (file.size() == 0) return fail(EBADMSG, "the file is empty");
  LT_TRY(const int version, read_start(cursor, contents));
  LT_CHECK(version == 6 ? read_version_6(file, cursor, contents) : read_version_7(file, cursor, contents));
  contents.stats.resize(contents.cpus);
  // Which come behind the formats in one version, and may come before them in the other one.
  for (auto& [id, text] : contents.structs) {
    if (const auto found = contents.events.find(id); found != contents.events.end()) describe(found->second, text);
  }
  return contents;
}

bool is_plausible_wall_offset(std::int64_t offset_ns) {
  constexpr std::int64_t kMost = std::int64_t{1} << 62;  // in the year 2116
  return offset_ns > -kMost && offset_ns < kMost;
}

void describe(EventType& type, std::string description) {
  type.description = std::move(description);
  event::describe_structs(type.declaration, type.description);
}

Result<void> check_page_size(std::uint32_t page_size, const FileCursor& cursor) {
  if (!std::has_single_bit(page_size) || page_size < kMinPageSize || page_size > kMaxPageSize) {
    return cursor.bad(fmt::format("page size {} before", page_size));
  }
  return {};
}

Result<void> check_cpu_count(std::uint32_t cpus, const FileCursor& cursor) {
  if (cpus > kMaxCpus) return cursor.bad(fmt::format("{} CPUs before", cpus));
  return {};
}

Result<void> read_header_info(FileCursor& cursor) {
  LT_CHECK(cursor.expect(kHeaderPage, "header_page"));
  LT_TRY(const auto page_size, cursor.number<std::uint64_t>("size of header_page"));
  LT_TRY(const std::string page, cursor.text(page_size, "header_page"));
  // A 32-bit kernel's commit has 4 bytes, and everything after it is at other offsets.
  if (page.find("commit;\toffset:8;\tsize:8;") == page.npos) {
    return fail(ENOTSUP, "ring-buffer pages of another shape than a 64-bit kernel's");
  }
  LT_CHECK(cursor.expect(kHeaderEvent, "header_event"));
  LT_TRY(const auto event_size, cursor.number<std::uint64_t>("size of header_event"));
  return cursor.skip(event_size, "header_event");
}

Result<void> read_ftrace_formats(FileCursor& cursor, Contents& contents) {
  return read_formats(cursor, "ftrace", contents);
}

Result<void> read_event_formats(FileCursor& cursor, Contents& contents) {
  LT_TRY(const auto systems, cursor.number<std::uint32_t>("number of event systems"));
  for (std::uint32_t i = 0; i < systems; ++i) {
    LT_TRY(const std::string system, cursor.terminated("name of an event system"));
    LT_CHECK(read_formats(cursor, system, contents));
  }
  return {};
}

Result<void> read_cmdlines(FileCursor& cursor, Contents& contents) {
  LT_TRY(const auto size, cursor.number<std::uint64_t>("size of the command lines"));
  LT_TRY(const std::string text, cursor.text(size, "command lines"));
  for_each_numbered_line(text, [&](std::int32_t tid, std::string_view comm) { contents.tasks[tid].comm = comm; });
  return {};
}

void take_option(Option option, const std::string& data, Contents& contents) {
  if (option == Option::kCpuStat) take_cpu_stat(data, contents);
  if (option == Option::kObjects) contents.objects = parse_object_lines(data);
  if (option == Option::kWallClock) contents.wall_offset_ns = parse_wall_offset(data);
  if (option == Option::kStructs) {
    for_each_numbered_line(
        data, [&](std::int32_t id, std::string_view text) { contents.structs[static_cast<std::uint16_t>(id)] = text; });
  }
  if (option == Option::kTgids) {
    for_each_numbered_line(data, [&](std::int32_t tid, std::string_view tgid) {
      std::from_chars(tgid.data(), tgid.data() + tgid.size(), contents.tasks[tid].tgid);
    });
  }
}

std::string selected_clock(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open);
  if (open == text.npos || close == text.npos) return std::string(text);
  return std::string(text.substr(open + 1, close - open - 1));
}

}  // namespace landtrace::output::trace_dat
