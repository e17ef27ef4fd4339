// What /proc says of a program's threads, read without libc. `tasks`: the open folder /proc/PID/task.
#pragma once

#include <cstdint>

namespace landtrace::agent {

struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t size;
  std::uint8_t type;
  char name[1];
};

// The file of that name in the thread's folder; negative: an errno.
int open_of_thread(int tasks, long thread, const char* name);
// The number at the beginning of the text, which goes behind it.
std::uint64_t hexadecimal(const char*& text);
// What stands behind a name and a tabulator at the beginning of a line; nullptr: there is none.
const char* value_of(const char* text, const char* name);

}  // namespace landtrace::agent
