// What stands before the events in a trace.dat file, and the parts that versions 6 and 7 have in common.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/cpu_stats.hpp"
#include "output/record.hpp"
#include "output/stack/object_map.hpp"
#include "output/trace_dat/file_cursor.hpp"
#include "output/trace_dat/file_format.hpp"

namespace landtrace::output::trace_dat {

struct CpuRegion {
  std::uint32_t cpu = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct Contents {
  std::uint32_t page_size = 0;
  std::uint32_t cpus = 0;
  std::string clock;
  std::map<std::uint16_t, EventType> events;
  std::unordered_map<std::int32_t, Task> tasks;
  std::vector<CpuStats> stats;
  std::vector<MappedObject> objects;  // on stacks
  std::vector<CpuRegion> regions;
};

// Reads everything up to the events. EBADMSG: not a trace file, or damaged; ENOTSUP: a kind that is not read
// (the message says what to do).
Result<Contents> read_contents(const InputFile& file);

Result<void> read_version_6(const InputFile& file, FileCursor& cursor, Contents& contents);
Result<void> read_version_7(const InputFile& file, FileCursor& cursor, Contents& contents);

// header_page and header_event.
Result<void> read_header_info(FileCursor& cursor);
Result<void> read_ftrace_formats(FileCursor& cursor, Contents& contents);
Result<void> read_event_formats(FileCursor& cursor, Contents& contents);
Result<void> read_cmdlines(FileCursor& cursor, Contents& contents);

// Takes an option that both versions have; others are ignored.
void take_option(Option option, const std::string& data, Contents& contents);
// "local [mono] boot" -> "mono"; a text without brackets is the name itself.
std::string selected_clock(std::string_view text);

Result<void> check_page_size(std::uint32_t page_size, const FileCursor& cursor);
Result<void> check_cpu_count(std::uint32_t cpus, const FileCursor& cursor);

}  // namespace landtrace::output::trace_dat
