// Records of perf events, as perf_event_open(2) lays them out.
#pragma once

#include <linux/perf_event.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace landtrace::perf {

// What an event has counted, for read() and PERF_SAMPLE_READ.
struct Reading {
  std::uint64_t value = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
  std::uint64_t id = 0;
  std::uint64_t lost = 0;
};

struct SampleFacts {
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t time = 0;
  std::uint32_t cpu = 0;
  std::uint64_t id = 0;
  std::uint64_t period = 1;
  // Where in the program it happened; 0: that is not known.
  std::uint64_t address = 0;
  std::span<const std::uint64_t> frames = {};
  // Of the entry: common_type, and what follows the common header.
  std::uint16_t type = 0;
  std::span<const std::byte> payload = {};
  // For PERF_SAMPLE_READ: as make_reading().
  std::span<const Reading> readings = {};
};

using Bytes = std::vector<std::byte>;

// The largest record: its size has 16 bits, and is a multiple of 8.
inline constexpr std::size_t kLargestRecord = 65528;

// These set `out` to the record. A sample may be larger than kLargestRecord; nobody can write it then.
void make_sample(Bytes& out, const perf_event_attr& attr, const SampleFacts& facts);
void make_lost(Bytes& out, const perf_event_attr& attr, const SampleFacts& facts, std::uint64_t count);
void make_name(Bytes& out, const perf_event_attr& attr, const SampleFacts& facts, std::string_view name);

struct MappedFile {
  std::uint64_t address;
  std::uint64_t size;
  std::uint64_t file_offset;
  std::string_view path;
  std::string_view build_id;
};
void make_mapping(Bytes& out, const perf_event_attr& attr, const SampleFacts& facts, const MappedFile& file);

// What read() gives of a group, the leader first; without PERF_FORMAT_GROUP of the first alone.
std::vector<std::uint64_t> make_reading(std::uint64_t read_format, std::span<const Reading> group);

}  // namespace landtrace::perf
