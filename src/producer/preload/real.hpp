// The functions that the shim stands in front of, as the next library in line has them.
#pragma once

#include <cstddef>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

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
};

// Found at the first use, which may be in another library's constructor, before ours.
const Real& real();

// Any other function, as the next library in line has it.
void* find_next(const char* name);

}  // namespace landtrace::preload
