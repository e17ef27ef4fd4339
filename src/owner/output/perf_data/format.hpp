// The numbers of perf.data files, from perf.data-file-format.txt and perf_event_open(2). <linux/perf_event.h> has the
// rest.
#pragma once

#include <cstdint>
#include <string_view>

namespace landtrace::output::perf_data {

inline constexpr std::string_view kMagic = "PERFILE2";
inline constexpr std::uint64_t kHeaderSize = 104;
inline constexpr std::uint64_t kPipeHeaderSize = 16;
// Of an attr: with what perf_event_attr had in Linux 5.13.
inline constexpr std::uint32_t kAttrBytes = 128;

struct Section {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// Records that perf makes itself, beyond those of the system.
enum class OwnRecord : std::uint32_t {
  kHeaderAttr = 64,
  kHeaderTracingData = 66,
  kFinishedRound = 68,
  kHeaderFeature = 80,
};

enum class Feature : std::uint32_t {
  kTracingData = 1,
  kHostname = 3,
  kOsRelease = 4,
  kVersion = 5,
  kArch = 6,
  kCpus = 7,
  kCpuDescription = 8,
  kCpuId = 9,
  kCommandLine = 11,
  kEventDescriptions = 12,
  kSampleTime = 21,
};

}  // namespace landtrace::output::perf_data
