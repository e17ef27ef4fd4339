// The words and numbers of trace.dat, from trace-cmd.dat.v6(5) and trace-cmd.dat.v7(5).
#pragma once

#include <cstdint>
#include <string_view>

namespace landtrace::output::trace_dat {

using namespace std::string_view_literals;

inline constexpr std::string_view kMagic = "\x17\x08\x44tracing"sv;
// More than any machine has: a file that says so is damaged.
inline constexpr std::uint32_t kMaxCpus = 4096;

// These include the final NUL, which is in the file too.
inline constexpr std::string_view kHeaderPage = "header_page\0"sv;
inline constexpr std::string_view kHeaderEvent = "header_event\0"sv;
inline constexpr std::string_view kOptions = "options  \0"sv;
inline constexpr std::string_view kLatency = "latency  \0"sv;
inline constexpr std::string_view kFlyrecord = "flyrecord\0"sv;

enum class Option : std::uint16_t {
  kDone = 0,
  kCpuStat = 2,
  kBuffer = 3,
  kTraceClock = 4,
  kUname = 5,
  kCpuCount = 8,
  kVersion = 9,
  kHeaderInfo = 16,
  kFtraceEvents = 17,
  kEventFormats = 18,
  kCmdlines = 21,
  // Ours: "TID TGID" lines, for which the format has no place. Others skip an option that they do not know.
  kTgids = 0x4c54,
  kObjects = 0x4c4f,    // on stacks: object_lines.hpp
  kStructs = 0x4c53,    // "ID DESCRIPTION" lines: event/description.hpp
  kWallClock = 0x4c57,  // what to add to times for nanoseconds since 1970
};

// Sections of version 7 have the number of the option that points to them; this one has no such option.
inline constexpr std::uint16_t kOptionsSection = 0;
inline constexpr std::uint16_t kSectionCompressed = 1;

// What tracefs shows as events/header_event.
inline constexpr std::string_view kHeaderEventText =
    "# compressed entry header\n"
    "\ttype_len    :    5 bits\n"
    "\ttime_delta  :   27 bits\n"
    "\tarray       :   32 bits\n"
    "\n"
    "\tpadding     : type == 29\n"
    "\ttime_extend : type == 30\n"
    "\ttime_stamp : type == 31\n"
    "\tdata max type_len  == 28\n";

}  // namespace landtrace::output::trace_dat
