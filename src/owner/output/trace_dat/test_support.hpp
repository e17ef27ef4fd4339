// Helpers of the trace.dat tests.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "output/trace_dat/reader.hpp"
#include "output/trace_dat/writer.hpp"

namespace landtrace::output {

// A folder that goes with everything in it.
class TempDir {
 public:
  TempDir();
  // In memory, where that is to be had: for tests that make and remove many files, for which some disks take their
  // time.
  static TempDir in_memory();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  [[nodiscard]] std::vector<std::string> list() const;

 private:
  explicit TempDir(std::string base);
  std::string path_;
};

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

// An event of the system user_events, from "NAME fields".
EventType make_type(std::uint16_t id, const std::string& declaration);

inline constexpr std::uint16_t kNumberId = 60000;
EventType number_type();  // "number u32 n"
Record number_record(std::uint64_t time_ns, std::uint32_t cpu, const std::uint32_t& n, std::int32_t tid = 100);
std::uint32_t number_of(std::span<const std::byte> payload);

// A record that owns its payload.
struct KeptRecord {
  std::uint64_t lost = 0;
  std::uint64_t time_ns = 0;
  std::uint32_t cpu = 0;
  std::int32_t tid = 0;
  std::uint16_t event_id = 0;
  std::string payload;

  [[nodiscard]] std::uint32_t number() const { return number_of(bytes_of(payload)); }
};

// All records up to the end or the first error.
struct ReadResult {
  std::vector<KeptRecord> records;
  std::optional<Error> error;
};
ReadResult read_all(TraceDatReader& reader);
// Opens and reads; a failure of either is in `error`.
ReadResult read_file_records(const std::string& path);

TraceDatWriter create_writer(const std::string& path, std::uint32_t cpus);
// The error's message, or "" for success.
template <typename T>
std::string message_of(const Result<T>& result) {
  return result ? "" : result.error().message;
}

std::string read_text(const std::string& path);
void write_text(const std::string& path, std::string_view text);

// What a shell command prints, both streams.
std::string run(const std::string& command);
bool has_trace_cmd();
std::uint64_t disk_bytes(const std::string& path);

}  // namespace landtrace::output

#define LT_NEEDS_TRACE_CMD() \
  if (!landtrace::output::has_trace_cmd()) GTEST_SKIP() << "trace-cmd is not installed"
