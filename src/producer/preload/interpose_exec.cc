// The functions that start another program, or become one: what nothing can be loaded into is noted.
#include <spawn.h>
#include <unistd.h>

#include "preload/children.hpp"
#include "preload/real.hpp"
#include "preload/unprobed_programs.hpp"

using namespace landtrace::preload;

// execv() is in interpose_mount.cc.

LT_EXPORT int execve(const char* path, char* const* words, char* const* variables) {
  note_program(path);
  return real().execve(path, words, variables);
}

LT_EXPORT int execvp(const char* name, char* const* words) {
  note_program_in_path(name);
  return real().execvp(name, words);
}

LT_EXPORT int execvpe(const char* name, char* const* words, char* const* variables) {
  note_program_in_path(name);
  return real().execvpe(name, words, variables);
}

LT_EXPORT int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                          const posix_spawnattr_t* attributes, char* const* words, char* const* variables) {
  const int error = [&] {
    const ChildExpected expected;
    return real().posix_spawn(pid, path, actions, attributes, words, variables);
  }();
  if (error == 0) note_program(path);
  return error;
}

LT_EXPORT int posix_spawnp(pid_t* pid, const char* name, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const* words, char* const* variables) {
  const int error = [&] {
    const ChildExpected expected;
    return real().posix_spawnp(pid, name, actions, attributes, words, variables);
  }();
  if (error == 0) note_program_in_path(name);
  return error;
}
