// What happens when the shim is loaded: next to nothing.
#include <dirent.h>
#include <pthread.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "client/process.hpp"
#include "ipc/path.hpp"
#include "plan/stack.hpp"
#include "preload/agent_loader.hpp"
#include "preload/data_file.hpp"
#include "preload/real.hpp"
#include "preload/requests.hpp"
#include "preload/unprobed_programs.hpp"

namespace landtrace::preload {
namespace {

// Files that came through exec.
void look_at_inherited() {
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return;
  while (const dirent* const entry = ::readdir(folder)) {
    if (entry->d_name[0] != '.') recognise(std::atoi(entry->d_name));
  }
  ::closedir(folder);
}

__attribute__((constructor)) void start() {
  const int saved_errno = errno;
  real();
  plan::set_own_frames({.object = true});
  // Now, and not in the middle of a program that has locked itself in.
  client::Process::get().set_on_next_owner(on_next_owner);
  client::Process::get().note_process();
  ::pthread_atfork(announce_fork, announce_parent, announce_child);
  look_at_inherited();
  const std::string socket = ipc::default_socket();
  set_noting(socket);
  load_agent_if_wanted(socket);
  errno = saved_errno;
}

}  // namespace
}  // namespace landtrace::preload
