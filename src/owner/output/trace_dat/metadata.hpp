// Everything in a version 6 file that stands before the events.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "output/cpu_stats.hpp"
#include "output/record.hpp"
#include "output/stack/object_map.hpp"

namespace landtrace::output::trace_dat {

struct Metadata {
  std::string clock;
  std::string kallsyms;
  std::map<std::uint16_t, EventType> events;
  std::map<std::int32_t, Task> tasks;
  std::vector<MappedObject> objects;
  std::optional<std::int64_t> wall_offset_ns = {};  // from the clock's times to nanoseconds since 1970
};

// Where the pages of a CPU are.
struct Region {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

// The bytes from the start of the file to the end of the table of regions, which has one entry per CPU, as
// `stats` has. Their number does not depend on what the regions hold.
std::string encode_metadata(const Metadata& metadata, const std::vector<CpuStats>& stats,
                            const std::vector<Region>& regions);

// The first part of that, up to the names of tasks, as `version` has it: what perf.data files hold, too.
std::string encode_descriptions(const Metadata& metadata, std::string_view version);

// The event's `format` text.
std::string format_of(const EventType& type);

// At least as many bytes as the event, the task or the object adds to encode_metadata().
std::size_t encoded_size(const EventType& type);
std::size_t encoded_size(const Task& task);
std::size_t encoded_size(const MappedObject& object);

}  // namespace landtrace::output::trace_dat
