// The contents of version 7: sections, to which the options in one or more option sections point.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "output/trace_dat/contents.hpp"

namespace landtrace::output::trace_dat {
namespace {

// What the options say, collected before any other section is read: a file may repeat an option without end,
// and each section must be read only once.
struct Directory {
  std::map<Option, std::uint64_t> sections;  // by the option that points there
  std::uint64_t buffer_option = 0;           // where the data of the BUFFER option is that is read
  bool top_buffer = false;                   // it is the one of the top instance
  std::uint64_t options_size = 0;            // bytes of options so far
};

// A cursor over what follows the section's header at `offset`.
Result<FileCursor> open_section(const InputFile& file, std::uint64_t offset, std::uint16_t id) {
  FileCursor cursor(file, offset, file.size());
  LT_TRY(const auto found, cursor.number<std::uint16_t>("section"));
  if (found != id) return cursor.bad(fmt::format("section {} where {} should be, before", found, id));
  LT_TRY(const auto flags, cursor.number<std::uint16_t>("section flags"));
  if ((flags & kSectionCompressed) != 0) {
    return fail(ENOTSUP,
                "a compressed trace file; first run: trace-cmd convert --file-version 6 --compression none -i FILE "
                "-o NEWFILE");
  }
  LT_CHECK(cursor.skip(sizeof(std::uint32_t), "section name"));
  LT_TRY(const auto size, cursor.number<std::uint64_t>("section size"));
  const std::uint64_t room = file.size() - cursor.offset();
  return FileCursor(file, cursor.offset(), cursor.offset() + std::min(size, room));
}

// The first buffer counts, or a later one that is the top instance's (its name is empty).
Result<void> note_buffer(FileCursor data, Directory& directory) {
  const std::uint64_t start = data.offset();
  LT_CHECK(data.skip(sizeof(std::uint64_t), "buffer offset"));
  LT_TRY(const std::string name, data.terminated("buffer name"));
  if (directory.top_buffer || (directory.buffer_option != 0 && !name.empty())) return {};
  directory.buffer_option = start;
  directory.top_buffer = name.empty();
  return {};
}

Result<void> take_directory_option(const InputFile& file, Option option, FileCursor& cursor, std::uint32_t size,
                                   Directory& directory, Contents& contents) {
  switch (option) {
    case Option::kHeaderInfo:
    case Option::kFtraceEvents:
    case Option::kEventFormats:
    case Option::kCmdlines: {
      LT_TRY(directory.sections[option], cursor.number<std::uint64_t>("offset of a section"));
      return {};
    }
    case Option::kBuffer:
      LT_CHECK(note_buffer(FileCursor(file, cursor.offset(), cursor.offset() + size), directory));
      return cursor.skip(size, "buffer option");
    default: {
      LT_TRY(const std::string data, cursor.text(size, "option"));
      take_option(option, data, contents);
      return {};
    }
  }
}

// Reads one options section; gives the offset of the next one, 0 after the last.
Result<std::uint64_t> read_options(const InputFile& file, std::uint64_t offset, Directory& directory,
                                   Contents& contents) {
  LT_TRY(FileCursor cursor, open_section(file, offset, kOptionsSection));
  while (true) {
    LT_TRY(const auto option, cursor.number<Option>("option"));
    LT_TRY(const auto size, cursor.number<std::uint32_t>("size of an option"));
    // A chain of sections that overlap, or that goes in circles, has more options than the file has bytes.
    directory.options_size += sizeof option + sizeof size + size;
    if (directory.options_size > file.size()) return cursor.bad("the options sections overlap,");
    if (option == Option::kDone) return cursor.number<std::uint64_t>("offset of the next options");
    LT_CHECK(take_directory_option(file, option, cursor, size, directory, contents));
  }
}

Result<Directory> read_directory(const InputFile& file, std::uint64_t first, Contents& contents) {
  Directory directory;
  for (std::uint64_t offset = first; offset != 0;) {
    LT_TRY(offset, read_options(file, offset, directory, contents));
  }
  return directory;
}

Result<void> read_listed_regions(FileCursor& cursor, Contents& contents) {
  LT_TRY(const auto count, cursor.number<std::uint32_t>("number of CPUs"));
  LT_CHECK(check_cpu_count(count, cursor));
  for (std::uint32_t i = 0; i < count; ++i) {
    CpuRegion region;
    LT_TRY(region.cpu, cursor.number<std::uint32_t>("CPU"));
    LT_CHECK(check_cpu_count(region.cpu, cursor));
    LT_TRY(region.offset, cursor.number<std::uint64_t>("offset of a CPU's events"));
    LT_TRY(region.size, cursor.number<std::uint64_t>("size of a CPU's events"));
    contents.cpus = std::max(contents.cpus, region.cpu + 1);
    contents.regions.push_back(region);
  }
  return {};
}

Result<void> read_buffer(const InputFile& file, std::uint64_t option, Contents& contents) {
  FileCursor cursor(file, option, file.size());
  LT_TRY(const auto section, cursor.number<std::uint64_t>("offset of a buffer"));
  LT_CHECK(cursor.terminated("buffer name"));
  LT_TRY(contents.clock, cursor.terminated("clock of a buffer"));
  LT_TRY(contents.page_size, cursor.number<std::uint32_t>("page size of a buffer"));
  LT_CHECK(check_page_size(contents.page_size, cursor));
  // For its flags only: the option has the offsets.
  LT_CHECK(open_section(file, section, static_cast<std::uint16_t>(Option::kBuffer)));
  return read_listed_regions(cursor, contents);
}

// Calls `read(cursor)` for the section, if the file has it.
template <typename Read>
Result<void> read_section(const InputFile& file, const Directory& directory, Option option, Read read) {
  const auto found = directory.sections.find(option);
  if (found == directory.sections.end()) return {};
  LT_TRY(FileCursor cursor, open_section(file, found->second, static_cast<std::uint16_t>(option)));
  return read(cursor);
}

}  // namespace

Result<void> read_version_7(const InputFile& file, FileCursor& cursor, Contents& contents) {
  LT_CHECK(cursor.terminated("compression"));
  LT_CHECK(cursor.terminated("version of the compression"));
  LT_TRY(const auto options, cursor.number<std::uint64_t>("offset of the options"));
  LT_TRY(const Directory directory, read_directory(file, options, contents));
  const auto section = [&](Option option, auto read) { return read_section(file, directory, option, read); };
  LT_CHECK(section(Option::kHeaderInfo, read_header_info));
  LT_CHECK(section(Option::kFtraceEvents, [&](FileCursor& at) { return read_ftrace_formats(at, contents); }));
  LT_CHECK(section(Option::kEventFormats, [&](FileCursor& at) { return read_event_formats(at, contents); }));
  LT_CHECK(section(Option::kCmdlines, [&](FileCursor& at) { return read_cmdlines(at, contents); }));
  if (directory.buffer_option == 0) return {};
  return read_buffer(file, directory.buffer_option, contents);
}

}  // namespace landtrace::output::trace_dat
