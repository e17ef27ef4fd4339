#include "output/trace_dat/test_support.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/fd.hpp"

namespace landtrace::output {

namespace fs = std::filesystem;

TempDir::TempDir() : TempDir(fs::temp_directory_path()) {}

TempDir::TempDir(std::string base) : path_(std::move(base) + "/landtrace_output_XXXXXX") {
  if (!::mkdtemp(path_.data())) std::abort();
}

TempDir TempDir::in_memory() {
  constexpr const char* kMemory = "/dev/shm";
  return TempDir(::access(kMemory, W_OK) == 0 ? kMemory : fs::temp_directory_path().string());
}

TempDir::~TempDir() { fs::remove_all(path_); }

std::vector<std::string> TempDir::list() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path_)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

EventType make_type(std::uint16_t id, const std::string& declaration) {
  auto parsed = event::parse_declaration(declaration);
  EXPECT_TRUE(parsed) << parsed.error().message;
  std::string name = parsed->name;
  return {id, "user_events", std::move(name), *std::move(parsed), {}};
}

EventType number_type() { return make_type(kNumberId, "number u32 n"); }

Record number_record(std::uint64_t time_ns, std::uint32_t cpu, const std::uint32_t& n, std::int32_t tid) {
  return {time_ns, cpu, tid, kNumberId, bytes_of(n)};
}

std::uint32_t number_of(std::span<const std::byte> payload) {
  std::uint32_t value = 0;
  if (payload.size() >= sizeof value) std::memcpy(&value, payload.data(), sizeof value);
  return value;
}

ReadResult read_all(TraceDatReader& reader) {
  ReadResult result;
  while (true) {
    auto item = reader.next();
    if (!item) {
      result.error = item.error();
      return result;
    }
    if (!*item) return result;
    const Record& record = (*item)->record;
    const auto* data = reinterpret_cast<const char*>(record.payload.data());
    result.records.push_back({(*item)->lost, record.time_ns, record.cpu, record.tid, record.event_id,
                              std::string(data, record.payload.size())});
  }
}

ReadResult read_file_records(const std::string& path) {
  auto reader = TraceDatReader::open(path);
  if (!reader) return {{}, reader.error()};
  return read_all(*reader);
}

TraceDatWriter create_writer(const std::string& path, std::uint32_t cpus) {
  TraceDatWriter::Options options;
  options.cpus = cpus;
  auto writer = TraceDatWriter::create(path, options);
  if (!writer) {
    ADD_FAILURE() << writer.error().message;
    std::abort();
  }
  return *std::move(writer);
}

std::string read_text(const std::string& path) { return read_file(path).value_or(""); }

void write_text(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::string run(const std::string& command) {
  const auto close = [](FILE* pipe) { ::pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> pipe(::popen((command + " 2>&1").c_str(), "re"), close);
  std::string out;
  char buffer[65536];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, pipe.get())) out.append(buffer, n);
  return out;
}

bool has_trace_cmd() { return run("trace-cmd --version").find("trace-cmd version") != std::string::npos; }

std::uint64_t disk_bytes(const std::string& path) {
  constexpr std::uint64_t kBlock = 512;
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * kBlock : 0;
}

}  // namespace landtrace::output
