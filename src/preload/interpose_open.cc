// open and its relatives.
#include <cstdarg>
#include <fcntl.h>

#include "preload/data_file.hpp"
#include "preload/real.hpp"

namespace landtrace::preload {
namespace {

bool has_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

// A descriptor that open() hands out is a new file, whatever the table remembers under its number.
int fresh(int fd) {
  if (fd >= 0 && !in_vfork_child()) FdTable::clear(fd);
  return fd;
}

int open_any(int folder, const char* path, int flags, mode_t mode) {
  if (names_data_file(path)) {
    const int fd = open_data_file(flags);
    if (fd != kNoDomain) return fd;
  }
  const int fd = folder == AT_FDCWD ? real().open(path, flags, mode) : real().openat(folder, path, flags, mode);
  return fd >= 0 && FdTable::is_ours(fd) ? fresh(fd) : fd;
}

}  // namespace
}  // namespace landtrace::preload

using landtrace::preload::has_mode;
using landtrace::preload::open_any;

#define LT_MODE_ARGUMENT(mode)            \
  mode_t mode = 0;                        \
  if (has_mode(flags)) {                  \
    va_list arguments;                    \
    va_start(arguments, flags);           \
    mode = va_arg(arguments, mode_t);     \
    va_end(arguments);                    \
  }

LT_EXPORT int open(const char* path, int flags, ...) {
  LT_MODE_ARGUMENT(mode)
  return open_any(AT_FDCWD, path, flags, mode);
}

LT_EXPORT int open64(const char* path, int flags, ...) {
  LT_MODE_ARGUMENT(mode)
  return open_any(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

LT_EXPORT int openat(int folder, const char* path, int flags, ...) {
  LT_MODE_ARGUMENT(mode)
  return open_any(folder, path, flags, mode);
}

LT_EXPORT int openat64(int folder, const char* path, int flags, ...) {
  LT_MODE_ARGUMENT(mode)
  return open_any(folder, path, flags | O_LARGEFILE, mode);
}

// What programs built with _FORTIFY_SOURCE call when they pass no mode.
LT_EXPORT int __open_2(const char* path, int flags) { return open_any(AT_FDCWD, path, flags, 0); }
LT_EXPORT int __open64_2(const char* path, int flags) { return open_any(AT_FDCWD, path, flags | O_LARGEFILE, 0); }
LT_EXPORT int __openat_2(int folder, const char* path, int flags) { return open_any(folder, path, flags, 0); }
LT_EXPORT int __openat64_2(int folder, const char* path, int flags) {
  return open_any(folder, path, flags | O_LARGEFILE, 0);
}
