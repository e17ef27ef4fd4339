// An owned file descriptor.
#pragma once

#include <unistd.h>

#include <utility>

#include "base/result.hpp"

namespace landtrace {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

// Writes all of it, through short writes and EINTR. The error names the system's reason (ENOSPC, …).
Result<void> write_all(int fd, const void* data, std::size_t size);
// Reads a whole (virtual) file, at most `limit` bytes.
Result<std::string> read_file(const std::string& path, std::size_t limit = 64u << 20);

}  // namespace landtrace
