#include "preload/writes.hpp"

#include <climits>
#include <fcntl.h>

#include "client/process.hpp"
#include "preload/user_memory.hpp"

namespace landtrace::preload {
namespace {

constexpr int kMaxVectors = 1024;

bool is_writable(FdEntry entry) { return entry.access == O_WRONLY || entry.access == O_RDWR; }

ssize_t finish(ssize_t result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

ssize_t size_of(const iovec* vectors, int count) {
  std::size_t size = 0;
  for (int i = 0; i < count; ++i) {
    if (__builtin_add_overflow(size, vectors[i].iov_len, &size) || size > SSIZE_MAX) return -EINVAL;
  }
  return static_cast<ssize_t>(size);
}

ssize_t write_vectors(FdEntry entry, const iovec* vectors, int count) {
  const client::Place* place = client::Process::place();
  ssize_t written = -EBADF;
  if (__builtin_expect(place != nullptr, 1)) {
    written = plan::write_file(place->view, place->thread, entry.file(), vectors, count);
    if (__builtin_expect(written >= 0 || !plan::owner_died(place->view), 1)) return written;
  } else if (client::Process::is_attached()) {
    // No place in the data plane: the domain has counted the event as lost, and the program is not to blame.
    return size_of(vectors, count);
  }
  // Nobody hears an orphan; with a new owner this event may be one that somebody listens to.
  if (!client::Process::get().join_next_owner()) return written;
  place = client::Process::place();
  return place == nullptr ? written : plan::write_file(place->view, place->thread, entry.file(), vectors, count);
}

}  // namespace

ssize_t write_data_file(FdEntry entry, const void* buffer, std::size_t size) {
  if (__builtin_expect(!is_writable(entry), 0)) return finish(-EBADF);
  if (!is_readable(buffer, size)) return finish(-EFAULT);
  const iovec vector{const_cast<void*>(buffer), size};
  return finish(write_vectors(entry, &vector, 1));
}

ssize_t writev_data_file(FdEntry entry, const iovec* vectors, int count) {
  if (__builtin_expect(!is_writable(entry), 0)) return finish(-EBADF);
  if (count < 0 || count > kMaxVectors) return finish(-EINVAL);
  if (!is_readable(vectors, static_cast<std::size_t>(count) * sizeof(iovec))) return finish(-EFAULT);
  const ssize_t size = size_of(vectors, count);
  if (size <= 0) return finish(size);  // an empty vector write never reaches the file
  if (!point_to_readable(vectors, count)) return finish(-EFAULT);
  return finish(write_vectors(entry, vectors, count));
}

}  // namespace landtrace::preload
