// The functions that the shim stands in front of, as the next library in line has them.
#pragma once

#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#define LT_EXPORT extern "C" __attribute__((visibility("default")))

namespace landtrace::preload {

struct Real {
  int (*open)(const char*, int, mode_t);
  int (*openat)(int, const char*, int, mode_t);
  int (*close)(int);
  int (*close_range)(unsigned, unsigned, int);
  int (*dup)(int);
  int (*dup2)(int, int);
  int (*dup3)(int, int, int);
  int (*fcntl)(int, int, void*);
  int (*ioctl)(int, unsigned long, void*);
  ssize_t (*read)(int, void*, std::size_t);
  ssize_t (*write)(int, const void*, std::size_t);
  ssize_t (*writev)(int, const iovec*, int);
  ssize_t (*pwrite)(int, const void*, std::size_t, off_t);
  ssize_t (*pwritev)(int, const iovec*, int, off_t);
  ssize_t (*pwritev2)(int, const iovec*, int, off_t, int);
  ssize_t (*recvmsg)(int, msghdr*, int);
  long (*syscall)(long, ...);
  int (*prctl)(int, ...);
  int (*recvmmsg)(int, mmsghdr*, unsigned, int, timespec*);
  decltype(&::fclose) fclose;
  decltype(&::freopen) freopen;
  decltype(&::freopen64) freopen64;
  decltype(&::readv) readv;
  decltype(&::pread) pread;
  decltype(&::pread64) pread64;
  decltype(&::recv) recv;
  decltype(&::recvfrom) recvfrom;
  decltype(&::lseek) lseek;
  decltype(&::lseek64) lseek64;
  decltype(&::poll) poll;
  decltype(&::ppoll) ppoll;
  decltype(&::select) select;
  decltype(&::pselect) pselect;
  decltype(&::epoll_wait) epoll_wait;
  decltype(&::epoll_pwait) epoll_pwait;
  decltype(&::epoll_pwait2) epoll_pwait2;
  decltype(&::mount) mount;
  decltype(&::unshare) unshare;
  decltype(&::setns) setns;
  decltype(&::execv) execv;
  decltype(&::execve) execve;
  decltype(&::execvp) execvp;
  decltype(&::execvpe) execvpe;
  decltype(&::posix_spawn) posix_spawn;
  decltype(&::posix_spawnp) posix_spawnp;
  decltype(&::system) system;
  decltype(&::popen) popen;
  // What stands in front of these jumps to them (interpose_vfork.cc).
  void* vfork;
  void* clone;
};

// Found when the shim is loaded, all of them, or at the first use, which may be in another library's constructor,
// before ours. Not later: dlsym() waits for a library that another thread loads, whose constructors may wait for the
// caller, and it may not be called in a signal's handler.
const Real& real();

}  // namespace landtrace::preload
