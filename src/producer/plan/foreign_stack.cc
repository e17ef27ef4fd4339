#include "plan/foreign_stack.hpp"

#include <cstdio>
#include <cstring>
#include <memory>

#include "arch/clock.hpp"
#include "plan/stack.hpp"

namespace landtrace::plan {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

File open_proc(std::uint32_t tid, const char* name) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%u/%s", tid, name);
  return File(std::fopen(path, "re"));
}

// Where the thread waits in a system call; 0 where that cannot be seen.
std::uint64_t pc_of(std::uint32_t tid) {
  const File file = open_proc(tid, "syscall");
  if (file == nullptr) return 0;
  long number = -1;
  unsigned long long words[8] = {};
  const int found = std::fscanf(file.get(), "%ld %llx %llx %llx %llx %llx %llx %llx %llx", &number, &words[0],
                                &words[1], &words[2], &words[3], &words[4], &words[5], &words[6], &words[7]);
  // The last two are the stack pointer and the pc. A thread that runs says "running".
  return found == 9 ? words[7] : 0;
}

struct Mapping {
  unsigned long long start;
  unsigned long long end;
  unsigned long long offset;
  unsigned long long inode;
  char path[512];
};

bool read_mapping(std::FILE* file, Mapping& mapping) {
  char line[1024];
  if (std::fgets(line, sizeof line, file) == nullptr) return false;
  char right[8];
  char device[16];
  int path_at = 0;
  mapping.path[0] = '\0';
  std::sscanf(line, "%llx-%llx %7s %llx %15s %llu %n", &mapping.start, &mapping.end, right, &mapping.offset, device,
              &mapping.inode, &path_at);
  std::snprintf(mapping.path, sizeof mapping.path, "%s", line + path_at);
  mapping.path[std::strcspn(mapping.path, "\n")] = '\0';
  return true;
}

// The object reaches from where a file is mapped from its beginning to the last of that file's mappings that follow.
bool find_object(std::uint32_t tid, std::uint64_t pc, unwind::Object& object, char (&path)[512]) {
  const File file = open_proc(tid, "maps");
  if (file == nullptr) return false;
  bool found = false;
  path[0] = '\0';
  for (Mapping mapping{}; read_mapping(file.get(), mapping);) {
    const bool is_next = mapping.path[0] == '/' && std::strcmp(mapping.path, path) == 0 && mapping.offset != 0;
    if (!is_next) {
      if (found) break;
      object.start = mapping.start;
      std::memcpy(path, mapping.path, sizeof path);
    }
    object.end = mapping.end;
    found = found || pc - mapping.start < mapping.end - mapping.start;
  }
  // A program that is not position-independent lies low, where its file says; its addresses are those of the file.
  object.bias = object.start < (1ull << 32) ? 0 : object.start;
  return found && path[0] != '\0';
}

}  // namespace

std::uint32_t capture_foreign_stack(const View& view, const Thread& thread, std::uint32_t pid, std::uint64_t* frame) {
  *frame = pc_of(thread.tid);
  unwind::Object object;
  char path[512];
  if (*frame != 0 && find_object(thread.tid, *frame, object, path)) {
    const auto clock = static_cast<arch::RawClock>(view.control->raw_clock);
    unwind::note_object_at(view.data->objects, pid, object, path, arch::read_raw_clock(clock));
  }
  return *frame != 0 ? 1 : 0;
}

}  // namespace landtrace::plan
