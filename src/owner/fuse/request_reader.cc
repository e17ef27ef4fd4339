#include "fuse/request_reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

namespace landtrace::fuse {

Result<void> RequestReader::prepare(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return fail_errno("fcntl(/dev/fuse)");
  return {};
}

ssize_t RequestReader::next(std::span<std::byte> buffer) {
  using Clock = std::chrono::steady_clock;
  ssize_t got = ::read(fd_, buffer.data(), buffer.size());
  if (got >= 0 || errno != EAGAIN) return got;
  const Clock::time_point since = Clock::now();
  while (got < 0 && errno == EAGAIN) {
    if (come_in_a_row_ && Clock::now() - since < kPolling) {
      ::sched_yield();
    } else {
      pollfd files[] = {{fd_, POLLIN, 0}, {stop_, POLLIN, 0}};
      ::poll(files, std::size(files), -1);
      if (files[1].revents != 0) {
        errno = ECANCELED;
        return -1;
      }
    }
    got = ::read(fd_, buffer.data(), buffer.size());
  }
  come_in_a_row_ = Clock::now() - since < kPolling;
  return got;
}

}  // namespace landtrace::fuse
