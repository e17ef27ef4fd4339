// write and its relatives. A position means nothing to the file; the kernel takes it all the same.
#include <cerrno>
#include <unistd.h>

#include "preload/perf_events.hpp"
#include "preload/real.hpp"
#include "preload/writes.hpp"

using namespace landtrace::preload;

LT_EXPORT ssize_t write(int fd, const void* buffer, std::size_t size) {
  const FdEntry entry = FdTable::get(fd);
  if (__builtin_expect(entry.generation == 0, 1)) return written_elsewhere(real().write(fd, buffer, size));
  return write_data_file(fd, entry, buffer, size);
}

LT_EXPORT ssize_t writev(int fd, const iovec* vectors, int count) {
  const FdEntry entry = FdTable::get(fd);
  if (__builtin_expect(entry.generation == 0, 1)) return written_elsewhere(real().writev(fd, vectors, count));
  return writev_data_file(fd, entry, vectors, count);
}

namespace {

ssize_t pwrite_any(int fd, const void* buffer, std::size_t size, off_t offset) {
  const FdEntry entry = FdTable::get(fd);
  if (__builtin_expect(entry.generation == 0, 1)) return real().pwrite(fd, buffer, size, offset);
  if (is_perf_event(entry)) return refuse_position();
  if (offset < 0) {
    errno = EINVAL;
    return -1;
  }
  return write_data_file(fd, entry, buffer, size);
}

ssize_t pwritev_any(int fd, const iovec* vectors, int count, off_t offset, int flags) {
  const FdEntry entry = FdTable::get(fd);
  if (__builtin_expect(entry.generation == 0, 1)) {
    return flags == 0 ? real().pwritev(fd, vectors, count, offset) : real().pwritev2(fd, vectors, count, offset, flags);
  }
  // -1 is none.
  if (is_perf_event(entry) && offset != -1) return refuse_position();
  if (offset < -1) {
    errno = EINVAL;
    return -1;
  }
  return writev_data_file(fd, entry, vectors, count);
}

}  // namespace

LT_EXPORT ssize_t pwrite(int fd, const void* buffer, std::size_t size, off_t offset) {
  return pwrite_any(fd, buffer, size, offset);
}
LT_EXPORT ssize_t pwrite64(int fd, const void* buffer, std::size_t size, off64_t offset) {
  return pwrite_any(fd, buffer, size, offset);
}
LT_EXPORT ssize_t pwritev(int fd, const iovec* vectors, int count, off_t offset) {
  return pwritev_any(fd, vectors, count, offset, 0);
}
LT_EXPORT ssize_t pwritev64(int fd, const iovec* vectors, int count, off64_t offset) {
  return pwritev_any(fd, vectors, count, offset, 0);
}
LT_EXPORT ssize_t pwritev2(int fd, const iovec* vectors, int count, off_t offset, int flags) {
  return pwritev_any(fd, vectors, count, offset, flags);
}
LT_EXPORT ssize_t pwritev64v2(int fd, const iovec* vectors, int count, off64_t offset, int flags) {
  return pwritev_any(fd, vectors, count, offset, flags);
}
