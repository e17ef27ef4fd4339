// What stands before the events in a trace.dat file, and the parts that versions 6 and 7 have in common.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "output/cpu_stats.hpp"
#include "output/record.hpp"
#include "output/stack/object_map.hpp"
#include "output/trace_dat/file_cursor.hpp"
#include "output/trace_dat/file_format.hpp"
#include "output/trace_dat/metadata.hpp"

namespace landtrace::output::trace_dat {

struct CpuRegion {
  std::uint32_t cpu = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  // Of a recording that is not finished: the CPU's stream, of which `offset` and `size` are; and where pages that are
  // not there any more have been moved to, if that has begun.
  std::shared_ptr<InputFile> stream = {};
  std::shared_ptr<InputFile> moved_to = {};
  std::uint64_t moved_offset = 0;
  // Bytes of events in the stream's last page, which is being filled: those behind them may be of types that nobody
  // has read about yet.
  std::optional<std::uint64_t> last_page_used = {};
};

struct Contents {
  std::uint32_t page_size = 0;
  std::uint32_t cpus = 0;
  std::string clock;
  std::map<std::uint16_t, EventType> events;
  std::unordered_map<std::int32_t, Task> tasks;
  std::vector<CpuStats> stats;
  std::vector<MappedObject> objects;             // on stacks
  std::map<std::uint16_t, std::string> structs;  // what is said of the events' structs, by id
  std::vector<CpuRegion> regions;
  std::optional<std::int64_t> wall_offset_ns;  // from the clock's times to nanoseconds since 1970
  bool is_unfinished = false;
  std::uint64_t horizon_ns = 0;                  // of an unfinished one: see journal.hpp
  std::optional<std::uint64_t> damaged_at = {};  // of its journal
};

// Reads everything up to the events. EBADMSG: not a trace file, or damaged; ENOTSUP: a kind that is not read
// (the message says what to do).
Result<Contents> read_contents(const InputFile& file);
// The same of a recording that is not finished: `file` is its journal, and the streams are beside it. One that is there
// and cannot be opened is an error with its name. What its regions have is described, also where it is being written.
Result<Contents> read_unfinished(InputFile& file, const std::string& path);
// ENOENT where none of the files is there that have its events, of so many CPUs: its journal was moved, and they were
// not.
Result<void> check_left_files(const std::string& journal, const std::string& path, std::size_t streams);
// Where the pages of an unfinished recording are moved to; none where that has not begun. An error: PATH.partial cannot
// be read.
Result<std::vector<Region>> regions_begun(const std::string& path);
// Whether it has; `journal` is where the recording's is.
bool has_begun(const std::string& journal);
// Whether there are pages of an unfinished recording that is to be at `path`, wherever its journal is; or nobody can
// tell, as PATH.partial cannot be read.
bool has_left_pages(const std::string& path);
// The path that an unfinished recording is to be at, whose journal is named: where that is PATH.new, beside an older
// one, it is PATH.
std::string recording_of(const std::string& journal);
// Whether it begins as a stream, or as what will be a finished recording: with a hole.
bool has_no_beginning(const InputFile& file);
// Whether it has the first bytes of a finished recording.
bool is_trace_file(const InputFile& file);

Result<void> read_version_6(const InputFile& file, FileCursor& cursor, Contents& contents);
Result<void> read_version_7(const InputFile& file, FileCursor& cursor, Contents& contents);

// header_page and header_event.
Result<void> read_header_info(FileCursor& cursor);
Result<void> read_ftrace_formats(FileCursor& cursor, Contents& contents);
Result<void> read_event_formats(FileCursor& cursor, Contents& contents);
Result<void> read_cmdlines(FileCursor& cursor, Contents& contents);

// A sum with the time of an event does not overflow.
bool is_plausible_wall_offset(std::int64_t offset_ns);
// Takes an option that both versions have; others are ignored.
void take_option(Option option, const std::string& data, Contents& contents);
// The event has this description of its structs.
void describe(EventType& type, std::string description);
// "local [mono] boot" -> "mono"; a text without brackets is the name itself.
std::string selected_clock(std::string_view text);

Result<void> check_page_size(std::uint32_t page_size, const FileCursor& cursor);
Result<void> check_cpu_count(std::uint32_t cpus, const FileCursor& cursor);

}  // namespace landtrace::output::trace_dat
