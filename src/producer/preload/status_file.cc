#include "preload/status_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "client/process.hpp"
#include "preload/data_file.hpp"
#include "preload/real.hpp"
#include "preload/user_memory.hpp"

namespace landtrace::preload {
namespace {

bool has_name(const char* path, const char* name) {
  const char* const slash = std::strrchr(path, '/');
  return std::strcmp(slash == nullptr ? path : slash + 1, name) == 0;
}

// The owner's descriptor is one for all; this one has a position of its own.
int open_again(int fd, int flags) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return real().open(path, O_RDONLY | (flags & O_CLOEXEC), 0);
}

ssize_t failed(int error) {
  errno = error;
  return -1;
}

}  // namespace

StatusFile names_status_file(const char* path) {
  if (has_name(path, "user_events_status")) return StatusFile::kBits;
  return has_name(path, "user_events_mmap") ? StatusFile::kBytes : StatusFile::kNone;
}

int open_status_file(StatusFile file, int flags) {
  client::Process& process = client::Process::get();
  if (const int error = process.attach_or_why(); error != 0) return not_opened(error);
  if ((flags & O_ACCMODE) != O_RDONLY) return static_cast<int>(failed(EACCES));
  const bool bits = file == StatusFile::kBits;
  const auto page = process.ask({.operation = ipc::Operation::kStatusPage, .a = bits ? 0u : 1u});
  if (!page && ipc::nobody_answers(page.error().code)) return not_opened(page.error().code);
  if (!page || !page->fds[0]) return kNoDomain;  // one without such files
  const int fd = open_again(page->fds[0].get(), flags);
  if (fd < 0) return -1;
  // Any generation will do: whoever looks for a file looks at the kind first.
  if (!FdTable::set(fd, {1, 0, bits ? kStatusText : kStatusNoText})) {
    real().close(fd);
    return static_cast<int>(failed(ENOMEM));
  }
  return fd;
}

ssize_t read_status_file(int fd, FdEntry entry, void* buffer, std::size_t size, off_t offset) {
  if (entry.access != kStatusText) return failed(EINVAL);
  const int saved_errno = errno;
  const off_t at = offset >= 0 ? offset : ::lseek(fd, 0, SEEK_CUR);
  const auto text =
      client::Process::get().ask({.operation = ipc::Operation::kStatusText, .a = static_cast<std::uint64_t>(at)});
  if (!text) return failed(ipc::nobody_answers(text.error().code) ? ENODEV : text.error().code);
  const std::size_t n = std::min(size, text->text.size());
  if (n > 0 && !copy_out(buffer, text->text.data(), n)) return failed(EFAULT);
  if (offset < 0) ::lseek(fd, static_cast<off_t>(n), SEEK_CUR);
  errno = saved_errno;
  return static_cast<ssize_t>(n);
}

}  // namespace landtrace::preload
