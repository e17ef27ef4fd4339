#include "preload/real.hpp"

#include <dlfcn.h>

namespace landtrace::preload {
namespace {

Real table;
bool ready = false;

template <typename Function>
void find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

// Threads that come here at once write the same values. The store at the end pairs with the acquire load in real():
// whoever sees `ready` sees the table.
void find_all() {
  find(table.open, "open");
  find(table.openat, "openat");
  find(table.close, "close");
  find(table.close_range, "close_range");
  find(table.dup, "dup");
  find(table.dup2, "dup2");
  find(table.dup3, "dup3");
  find(table.fcntl, "fcntl64");
  if (table.fcntl == nullptr) find(table.fcntl, "fcntl");
  find(table.ioctl, "ioctl");
  find(table.read, "read");
  find(table.write, "write");
  find(table.writev, "writev");
  find(table.pwrite, "pwrite64");
  find(table.pwritev, "pwritev64");
  find(table.pwritev2, "pwritev64v2");
  find(table.syscall, "syscall");
  find(table.prctl, "prctl");
  find(table.recvmsg, "recvmsg");
  find(table.recvmmsg, "recvmmsg");
  find(table.fclose, "fclose");
  find(table.freopen, "freopen");
  find(table.freopen64, "freopen64");
  find(table.readv, "readv");
  find(table.pread, "pread");
  find(table.pread64, "pread64");
  find(table.recv, "recv");
  find(table.recvfrom, "recvfrom");
  find(table.lseek, "lseek");
  find(table.lseek64, "lseek64");
  find(table.poll, "poll");
  find(table.ppoll, "ppoll");
  find(table.select, "select");
  find(table.pselect, "pselect");
  find(table.epoll_wait, "epoll_wait");
  find(table.epoll_pwait, "epoll_pwait");
  find(table.epoll_pwait2, "epoll_pwait2");
  find(table.mount, "mount");
  find(table.unshare, "unshare");
  find(table.setns, "setns");
  find(table.execv, "execv");
  find(table.execve, "execve");
  find(table.execvp, "execvp");
  find(table.execvpe, "execvpe");
  find(table.posix_spawn, "posix_spawn");
  find(table.posix_spawnp, "posix_spawnp");
  find(table.system, "system");
  find(table.popen, "popen");
  find(table.vfork, "vfork");
  find(table.clone, "clone");
  // Pairs with the acquire load in real().
  __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
}

}  // namespace

const Real& real() {
  // Pairs with the release store in find_all().
  if (__builtin_expect(!__atomic_load_n(&ready, __ATOMIC_ACQUIRE), 0)) find_all();
  return table;
}

}  // namespace landtrace::preload
