#include "output/trace_dat/metadata.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>

#include "event/description.hpp"
#include "output/trace_dat/file_format.hpp"
#include "output/trace_dat/object_lines.hpp"
#include "output/trace_dat/page_format.hpp"
#include "output/trace_dat/put.hpp"

namespace landtrace::output::trace_dat {
namespace {

// ftrace's own events (`print`) have a place of their own in the file.
constexpr std::string_view kFtraceSystem = "ftrace";
constexpr std::uint8_t kLittleEndian = 0;

void put_sized(std::string& out, std::string_view text) {
  put(out, std::uint64_t{text.size()});
  out += text;
}

void put_terminated(std::string& out, std::string_view text) {
  out += text;
  out += '\0';
}

void put_option(std::string& out, Option option, std::string_view data) {
  put(out, option);
  put(out, static_cast<std::uint32_t>(data.size()));
  out += data;
}

void put_text_option(std::string& out, Option option, std::string text) {
  put_option(out, option, {text.c_str(), text.size() + 1});
}

std::string header_page_text() {
  return fmt::format(
      "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
      "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
      "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
      "\tfield: char data;\toffset:{};\tsize:{};\tsigned:1;\n",
      kPageHeader, kPageSize - kPageHeader);
}

void put_start(std::string& out, std::string_view version) {
  out += kMagic;
  put_terminated(out, version);
  put(out, kLittleEndian);
  put(out, static_cast<std::uint8_t>(sizeof(long)));
  put(out, static_cast<std::uint32_t>(kPageSize));
  out += kHeaderPage;
  put_sized(out, header_page_text());
  out += kHeaderEvent;
  put_sized(out, kHeaderEventText);
}

void put_formats(std::string& out, const std::vector<const EventType*>& events) {
  put(out, static_cast<std::uint32_t>(events.size()));
  for (const EventType* type : events) put_sized(out, format_of(*type));
}

void put_events(std::string& out, const std::map<std::uint16_t, EventType>& events) {
  std::map<std::string_view, std::vector<const EventType*>> systems;
  for (const auto& [id, type] : events) systems[type.system].push_back(&type);
  put_formats(out, systems[kFtraceSystem]);
  systems.erase(kFtraceSystem);
  put(out, static_cast<std::uint32_t>(systems.size()));
  for (const auto& [name, types] : systems) {
    put_terminated(out, name);
    put_formats(out, types);
  }
}

// A line of saved_cmdlines must keep its shape, whatever a task called itself.
std::string printable(std::string comm) {
  std::replace_if(
      comm.begin(), comm.end(), [](unsigned char c) { return c < ' '; }, '?');
  return comm.empty() ? "<...>" : comm;
}

void put_cmdlines(std::string& out, const std::map<std::int32_t, Task>& tasks) {
  std::string lines;
  for (const auto& [tid, task] : tasks) lines += fmt::format("{} {}\n", tid, printable(task.comm));
  put_sized(out, lines);
}

std::string tgid_lines(const std::map<std::int32_t, Task>& tasks) {
  std::string lines;
  for (const auto& [tid, task] : tasks) {
    if (task.tgid != 0) lines += fmt::format("{} {}\n", tid, task.tgid);
  }
  return lines;
}

std::string struct_line(const EventType& type) {
  if (type.description.empty() || !event::is_description(type.description)) return "";
  return fmt::format("{} {}\n", type.id, type.description);
}

std::string struct_lines(const std::map<std::uint16_t, EventType>& events) {
  std::string lines;
  for (const auto& [id, type] : events) lines += struct_line(type);
  return lines;
}

std::string uname_text() {
  utsname name{};
  if (::uname(&name) != 0) return "Linux";
  return fmt::format("{} {} {} {}", name.sysname, name.nodename, name.release, name.machine);
}

// In the form of the file trace_clock, with the choice in brackets.
std::string clock_text(const Metadata& metadata) { return "[" + metadata.clock + "]"; }

void put_options(std::string& out, const Metadata& metadata, const std::vector<CpuStats>& stats) {
  out += kOptions;
  for (std::size_t cpu = 0; cpu < stats.size(); ++cpu) {
    put_text_option(out, Option::kCpuStat, fmt::format("CPU: {}\n{}", cpu, cpu_stats_text(stats[cpu])));
  }
  // In version 6 it only says that the clock follows the table of regions. trace-cmd itself leaves it empty,
  // but its 3.1.6 then looks for a clock in a buffer of no bytes, and one report in 300 prints times in bare
  // nanoseconds.
  put_text_option(out, Option::kTraceClock, clock_text(metadata));
  put_text_option(out, Option::kUname, uname_text());
  std::string count;
  put(count, static_cast<std::uint32_t>(stats.size()));
  put_option(out, Option::kCpuCount, count);
  put_text_option(out, Option::kVersion, "landtrace");
  if (const std::string tgids = tgid_lines(metadata.tasks); !tgids.empty()) {
    put_option(out, Option::kTgids, tgids);
  }
  std::string objects;
  for (const MappedObject& object : metadata.objects) objects += object_line(object);
  if (!objects.empty()) put_option(out, Option::kObjects, objects);
  const std::string structs = struct_lines(metadata.events);
  if (!structs.empty()) put_option(out, Option::kStructs, structs);
  if (metadata.wall_offset_ns) put_text_option(out, Option::kWallClock, std::to_string(*metadata.wall_offset_ns));
  put(out, Option::kDone);
}

}  // namespace

std::string format_of(const EventType& type) {
  return type.format.empty() ? event::format_text(type.declaration, type.name, type.id) : type.format;
}

std::string encode_descriptions(const Metadata& metadata, std::string_view version) {
  std::string out;
  put_start(out, version);
  put_events(out, metadata.events);
  put(out, static_cast<std::uint32_t>(metadata.kallsyms.size()));
  out += metadata.kallsyms;
  put(out, std::uint32_t{0});  // no printk formats
  put_cmdlines(out, metadata.tasks);
  return out;
}

std::string encode_metadata(const Metadata& metadata, const std::vector<CpuStats>& stats,
                            const std::vector<Region>& regions) {
  std::string out = encode_descriptions(metadata, "6");
  put(out, static_cast<std::uint32_t>(regions.size()));
  put_options(out, metadata, stats);
  out += kFlyrecord;
  for (const Region& region : regions) {
    put(out, region.offset);
    put(out, region.size);
  }
  const std::string clock = clock_text(metadata);
  put_sized(out, {clock.c_str(), clock.size() + 1});
  return out;
}

std::size_t encoded_size(const EventType& type) {
  constexpr std::size_t kCounts = 32;  // of the format, and of a system of its own
  return format_of(type).size() + type.system.size() + struct_line(type).size() + kCounts;
}

std::size_t encoded_size(const Task& task) {
  constexpr std::size_t kNumbers = 64;  // "TID COMM\n" and "TID TGID\n"
  return task.comm.size() + kNumbers;
}

std::size_t encoded_size(const MappedObject& object) { return object_line(object).size(); }

}  // namespace landtrace::output::trace_dat
