// open and its relatives.
#include <cerrno>
#include <cstdarg>
#include <fcntl.h>
#include <sys/vfs.h>

#include "preload/data_file.hpp"
#include "preload/real.hpp"
#include "preload/status_file.hpp"

namespace landtrace::preload {
namespace {

bool has_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

// A descriptor that open() hands out is a new file, whatever the table remembers under its number.
int fresh(int fd) {
  if (fd >= 0 && !has_own_descriptors()) FdTable::clear(fd);
  return fd;
}

// A shell's `>` creates what is not there. An ordinary file of that name, which may be new, is the program's.
bool made_a_file(int fd, int flags) {
  constexpr long kTracefsMagic = 0x74726163;
  struct statfs where {};
  return fd >= 0 && has_mode(flags) && (::fstatfs(fd, &where) != 0 || where.f_type != kTracefsMagic);
}

// Only where the real one cannot be opened: on a mount it is the owner's own.
int open_status(StatusFile file, int flags, int error, int errno_before) {
  const int fd = open_status_file(file, flags);
  if (fd >= 0) errno = errno_before;
  if (fd == kNoDomain) errno = error;
  return fd >= 0 ? fd : -1;
}

// The real open goes first: it tells, without a system call of ours, whether the path can be read at all, and a program
// that has nothing to do with events is not touched.
int open_any(int folder, const char* path, int flags, mode_t mode) {
  const int errno_before = errno;
  const int fd = folder == AT_FDCWD ? real().open(path, flags, mode) : real().openat(folder, path, flags, mode);
  const int error = errno;
  if (fd >= 0 && FdTable::is_ours(fd)) fresh(fd);
  const bool is_a_path = fd >= 0 || (error != EFAULT && error != ENAMETOOLONG);
  if (is_a_path && fd < 0) {
    if (const StatusFile file = names_status_file(path); file != StatusFile::kNone) {
      return open_status(file, flags, error, errno_before);
    }
  }
  if (!is_a_path || !names_data_file(path) || made_a_file(fd, flags)) return fd;
  const int ours = open_data_file(flags);
  if (ours == kNoDomain || (ours == kUnreached && fd >= 0)) {
    errno = error;
    return fd;
  }
  if (fd >= 0) real().close(fd);  // a kernel's own: the domain goes before it
  if (ours >= 0) errno = errno_before;
  return ours >= 0 ? ours : -1;
}

}  // namespace
}  // namespace landtrace::preload

using landtrace::preload::has_mode;
using landtrace::preload::open_any;

#define LT_MODE_ARGUMENT(mode)        \
  mode_t mode = 0;                    \
  if (has_mode(flags)) {              \
    va_list arguments;                \
    va_start(arguments, flags);       \
    mode = va_arg(arguments, mode_t); \
    va_end(arguments);                \
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
