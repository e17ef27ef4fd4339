// Any bytes as a trace.dat file: an error or records, in bounded time and memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "output/json/line.hpp"
#include "output/text/line.hpp"
#include "output/trace_dat/reader.hpp"

using landtrace::output::EventType;
using landtrace::output::JsonLineWriter;
using landtrace::output::Record;
using landtrace::output::Task;
using landtrace::output::TraceDatReader;

namespace {

void print(const TraceDatReader& reader, const Record& record) {
  const auto type = reader.events().find(record.event_id);
  const auto task = reader.tasks().find(record.tid);
  const EventType* known_type = type == reader.events().end() ? nullptr : &type->second;
  const Task* known_task = task == reader.tasks().end() ? nullptr : &task->second;
  std::string out;
  append_text_line(out, record, known_task, known_type);
  JsonLineWriter().append(out, record, known_task, known_type);
}

void read(const std::string& path) {
  auto reader = TraceDatReader::open(path);
  if (!reader) return;
  // Each error ends one CPU, so there cannot be more of them than CPUs.
  for (std::uint32_t errors = 0; errors <= reader->cpus();) {
    auto item = reader->next();
    if (!item) {
      ++errors;
      continue;
    }
    if (!*item) return;
    print(*reader, (*item)->record);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int file = ::memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  read(path);
  return 0;
}
