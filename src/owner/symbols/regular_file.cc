#include "symbols/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace landtrace::symbols {
namespace {

constexpr int kReadOnly = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

Result<void> check(const Fd& fd, const std::string& path) {
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return fail(errno, path);
  if (!S_ISREG(st.st_mode)) return fail(EINVAL, path + " is not a file");
  return {};
}

}  // namespace

Result<Fd> open_regular_file(const std::string& path) {
  const Fd found(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!found) return fail(errno, path);
  auto fd = open_regular_file(found, path);
  if (fd || fd.error().code != ENOENT) return fd;
  // There is no /proc, so the path is looked up again: it may lead elsewhere by now.
  Fd again(::open(path.c_str(), kReadOnly));
  if (!again) return fail(errno, path);
  LT_CHECK(check(again, path));
  return again;
}

Result<Fd> open_regular_file(const Fd& found, const std::string& path) {
  LT_CHECK(check(found, path));
  Fd fd(::open(("/proc/self/fd/" + std::to_string(found.get())).c_str(), kReadOnly));
  if (!fd) return fail(errno, path);
  return fd;
}

}  // namespace landtrace::symbols
