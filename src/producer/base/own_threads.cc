#include "base/own_threads.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/system_call.hpp"

namespace landtrace {
namespace {

// What has no memory any more has no program.
bool first_thread_has_ended() {
  constexpr char kProgram[] = "/proc/self/exe";
  char name[1];
#ifdef SYS_readlink
  return system_call(SYS_readlink, kProgram, name, sizeof name) == -ENOENT;
#else
  return system_call(SYS_readlinkat, AT_FDCWD, kProgram, name, sizeof name) == -ENOENT;
#endif
}

// A thread that ends just now has none.
bool is_of_program(int tasks, const char* id) {
  const long folder = system_call(SYS_openat, tasks, id, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  const long fd = system_call(SYS_openat, folder, "comm", O_RDONLY | O_CLOEXEC);
  system_call(SYS_close, folder);
  if (fd < 0) return false;
  char name[32];
  const long size = system_call(SYS_read, fd, name, sizeof name);
  system_call(SYS_close, fd);
  return size > 0 && !is_own_thread_name({name, static_cast<std::size_t>(size) - 1});
}

bool has_other(int tasks) {
  const long self = system_call(SYS_gettid);
  const long ended = first_thread_has_ended() ? system_call(SYS_getpid) : self;
  alignas(dirent64) char entries[1024];
  for (;;) {
    const long size = system_call(SYS_getdents64, tasks, entries, sizeof entries);
    if (size <= 0) return size < 0;
    for (long at = 0; at < size;) {
      const auto* const entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      if (entry->d_name[0] == '.') continue;
      const long id = std::atol(entry->d_name);
      if (id != self && id != ended && is_of_program(tasks, entry->d_name)) return true;
    }
  }
}

}  // namespace

bool program_has_other_threads() {
  const long tasks = system_call(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (tasks < 0) return true;
  const bool has = has_other(static_cast<int>(tasks));
  system_call(SYS_close, tasks);
  return has;
}

bool program_has_ended() { return first_thread_has_ended() && !program_has_other_threads(); }

}  // namespace landtrace
