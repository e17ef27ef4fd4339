// read, seek and their relatives. The kernel's file cannot be read, and seeking leaves it where it is; a read of ours
// would give away the datagram that says which file it is.
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "preload/fd_table.hpp"
#include "preload/perf_events.hpp"
#include "preload/real.hpp"
#include "preload/status_file.hpp"

using namespace landtrace::preload;

namespace {

// Of a data file; the status files of older ABIs are read here.
ssize_t read_ours(int fd, void* buffer, std::size_t size, off_t offset = -1) {
  const FdEntry entry = FdTable::get(fd);
  if (is_perf_event(entry)) return read_perf_event(entry, buffer, size);
  if (is_status_file(entry)) return read_status_file(fd, entry, buffer, size, offset);
  errno = entry.access == O_WRONLY ? EBADF : EINVAL;
  return -1;
}

ssize_t read_at(int fd, void* buffer, std::size_t size, off_t offset) {
  return is_perf_event(FdTable::get(fd)) ? refuse_position() : read_ours(fd, buffer, size, offset);
}

// Seeking goes to the kernel's file, or stays where it is.
template <typename Seek>
off64_t seek(int fd, off64_t offset, int whence, const Seek& next) {
  const FdEntry entry = FdTable::get(fd);
  if (is_perf_event(entry)) return refuse_position();
  return is_status_file(entry) ? next(fd, offset, whence) : 0;
}

ssize_t refuse_receive() {
  errno = ENOTSOCK;
  return -1;
}

}  // namespace

// NAME(fd, ...) as the next library has it, unless the descriptor is ours.
#define LT_FORWARD(name, refusal, ...) \
  return __builtin_expect(FdTable::is_ours(fd), 0) ? (refusal) : real().name(fd, __VA_ARGS__)

LT_EXPORT ssize_t read(int fd, void* buffer, std::size_t size) {
  return __builtin_expect(FdTable::is_ours(fd), 0) ? read_ours(fd, buffer, size) : real().read(fd, buffer, size);
}
LT_EXPORT ssize_t readv(int fd, const iovec* vectors, int count) {
  LT_FORWARD(readv, count > 0 ? read_ours(fd, vectors[0].iov_base, vectors[0].iov_len) : 0, vectors, count);
}
LT_EXPORT ssize_t pread(int fd, void* buffer, std::size_t size, off_t offset) {
  LT_FORWARD(pread, read_at(fd, buffer, size, offset), buffer, size, offset);
}
LT_EXPORT ssize_t pread64(int fd, void* buffer, std::size_t size, off64_t offset) {
  LT_FORWARD(pread64, read_at(fd, buffer, size, offset), buffer, size, offset);
}
LT_EXPORT ssize_t recv(int fd, void* buffer, std::size_t size, int flags) {
  // The library's own peek at an identity comes this way, too.
  if (__builtin_expect(FdTable::is_ours(fd) && (flags & MSG_PEEK) == 0, 0)) return refuse_receive();
  return real().recv(fd, buffer, size, flags);
}
LT_EXPORT ssize_t recvfrom(int fd, void* __restrict buffer, std::size_t size, int flags, sockaddr* __restrict address,
                           socklen_t* __restrict length) {
  LT_FORWARD(recvfrom, refuse_receive(), buffer, size, flags, address, length);
}

LT_EXPORT off_t lseek(int fd, off_t offset, int whence) noexcept {
  LT_FORWARD(lseek, seek(fd, offset, whence, real().lseek), offset, whence);
}
LT_EXPORT off64_t lseek64(int fd, off64_t offset, int whence) noexcept {
  LT_FORWARD(lseek64, seek(fd, offset, whence, real().lseek64), offset, whence);
}
