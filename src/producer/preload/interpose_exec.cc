// The functions that start another program, or become one: what nothing can be loaded into is noted.
#include <spawn.h>
#include <unistd.h>

#include "preload/children.hpp"
#include "preload/real.hpp"
#include "preload/unprobed_programs.hpp"

namespace landtrace::preload {
namespace {

using Exec = int (*)(const char*, char* const*, char* const*);
using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                      char* const*);

template <typename Function>
Function next_in_line(const char* name) {
  return reinterpret_cast<Function>(find_next(name));
}

}  // namespace
}  // namespace landtrace::preload

using namespace landtrace::preload;

// execv() is in interpose_mount.cc.

LT_EXPORT int execve(const char* path, char* const* words, char* const* variables) {
  static const auto real_execve = next_in_line<Exec>("execve");
  note_program(path);
  return real_execve(path, words, variables);
}

LT_EXPORT int execvp(const char* name, char* const* words) {
  static const auto real_execvp = next_in_line<int (*)(const char*, char* const*)>("execvp");
  note_program_in_path(name);
  return real_execvp(name, words);
}

LT_EXPORT int execvpe(const char* name, char* const* words, char* const* variables) {
  static const auto real_execvpe = next_in_line<Exec>("execvpe");
  note_program_in_path(name);
  return real_execvpe(name, words, variables);
}

LT_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                          const posix_spawnattr_t* attributes, char* const* words, char* const* variables) {
  static const auto real_spawn = next_in_line<Spawn>("posix_spawn");
  const int error = [&] {
    const ChildExpected expected;
    return real_spawn(pid, path, actions, attributes, words, variables);
  }();
  if (error == 0) note_program(path);
  return error;
}

LT_EXPORT int posix_spawnp(pid_t* pid, const char* name, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const* words, char* const* variables) {
  static const auto real_spawn = next_in_line<Spawn>("posix_spawnp");
  const int error = [&] {
    const ChildExpected expected;
    return real_spawn(pid, name, actions, attributes, words, variables);
  }();
  if (error == 0) note_program_in_path(name);
  return error;
}
