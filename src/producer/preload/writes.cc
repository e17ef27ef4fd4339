#include "preload/writes.hpp"

#include <climits>
#include <fcntl.h>

#include "client/process.hpp"
#include "preload/perf_events.hpp"
#include "preload/reopen.hpp"
#include "preload/user_memory.hpp"

namespace landtrace::preload {
namespace {

constexpr int kMaxVectors = 1024;

bool is_writable(FdEntry entry) { return entry.access == O_WRONLY || entry.access == O_RDWR; }

// Perf events are open for writing, and take nothing.
ssize_t refusal_of(FdEntry entry) { return is_perf_event(entry) ? -EINVAL : -EBADF; }

ssize_t finish(ssize_t result) {
  if (__builtin_expect(result >= 0, 1)) {
    if (__builtin_expect(perf_is_used, 0)) perf_after_own_event();
    return result;
  }
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

// The owner lives and does not know the event, or not the file: it may not have answered in time when it took over.
__attribute__((noinline)) ssize_t write_late(int fd, const iovec* vectors, int count) {
  const bool is_alive = reopen_late(fd);
  const client::Place* const place = client::Process::place();
  const FdEntry entry = FdTable::get(fd);
  if (place == nullptr || entry.generation == 0) return -EBADF;
  const ssize_t written = plan::write_file(place->view, place->thread, entry.file(), vectors, count);
  return written == -ENOENT && !is_alive ? -EBADF : written;
}

ssize_t write_vectors(int fd, FdEntry entry, const iovec* vectors, int count) {
  const client::Place* place = client::Process::place();
  ssize_t written = -EBADF;
  if (__builtin_expect(place != nullptr, 1)) {
    written = plan::write_file(place->view, place->thread, entry.file(), vectors, count);
    if (__builtin_expect(written >= 0, 1)) return written;
    if (!plan::owner_died(place->view)) return written == -ENOENT ? write_late(fd, vectors, count) : written;
  } else if (client::Process::is_attached()) {
    // No place in the data plane: the domain has counted the event as lost, and the program is not to blame.
    return size_of(vectors, count);
  }
  // Nobody hears an orphan; with a new owner this event may be one that somebody listens to.
  if (!client::Process::get().join_next_owner()) return written;
  place = client::Process::place();
  if (place == nullptr) return written;
  const FdEntry fresh = FdTable::get(fd);  // the next owner may know it under another number
  if (fresh.generation == 0) return -EBADF;
  written = plan::write_file(place->view, place->thread, fresh.file(), vectors, count);
  return written == -ENOENT ? write_late(fd, vectors, count) : written;
}

}  // namespace

ssize_t write_data_file(int fd, FdEntry entry, const void* buffer, std::size_t size) {
  if (__builtin_expect(!is_writable(entry), 0)) return finish(refusal_of(entry));
  if (!is_readable(buffer, size)) return finish(-EFAULT);
  const iovec vector{const_cast<void*>(buffer), size};
  return finish(write_vectors(fd, entry, &vector, 1));
}

ssize_t writev_data_file(int fd, FdEntry entry, const iovec* vectors, int count) {
  if (__builtin_expect(!is_writable(entry), 0)) return finish(refusal_of(entry));
  if (count < 0 || count > kMaxVectors) return finish(-EINVAL);
  if (!is_readable(vectors, static_cast<std::size_t>(count) * sizeof(iovec))) return finish(-EFAULT);
  const ssize_t size = size_of(vectors, count);
  if (size <= 0) return finish(size);  // an empty vector write never reaches the file
  if (!point_to_readable(vectors, count)) return finish(-EFAULT);
  return finish(write_vectors(fd, entry, vectors, count));
}

}  // namespace landtrace::preload
