#include "base/fd.hpp"

#include <fcntl.h>

#include <cstring>

namespace landtrace {

std::string errno_text(int code) {
  char buffer[128];
  return strerror_r(code, buffer, sizeof buffer);
}

tl::unexpected<Error> fail_errno(std::string what, int code) {
  return fail(code, std::move(what) + ": " + errno_text(code));
}

Result<void> write_all(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = ::write(fd, at, size);
    if (n < 0) {
      if (errno == EINTR) continue;
      return fail_errno("write");
    }
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return {};
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno("open " + path);
  std::string out;
  char buffer[16384];
  while (out.size() < limit) {
    const ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
    if (n < 0) {
      if (errno == EINTR) continue;
      return fail_errno("read " + path);
    }
    if (n == 0) return out;
    out.append(buffer, static_cast<std::size_t>(n));
  }
  return fail(EFBIG, path + " is larger than " + std::to_string(limit) + " bytes");
}

}  // namespace landtrace
