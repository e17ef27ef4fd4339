#include "daemon/fuse_device.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/fd.hpp"

namespace landtrace::daemon {
namespace {

constexpr const char* kDevice = "/dev/fuse";
constexpr unsigned kPermissions = 07777;

}  // namespace

Result<void> check_fuse_device() {
  if (Fd(::open(kDevice, O_RDWR | O_CLOEXEC))) return {};
  const int error = errno;
  struct stat st {};
  if (error == EACCES && ::stat(kDevice, &st) == 0) {
    return fail(error,
                fmt::format("/dev/fuse has mode {:04o} and is not for this user; root can open it to all, as most "
                            "systems have it: chmod 0666 /dev/fuse",
                            st.st_mode & kPermissions));
  }
  if (error == ENOENT) {
    return fail(error,
                "there is no /dev/fuse; root can make it: modprobe fuse. Containers get it by --device /dev/fuse");
  }
  return fail(error, fmt::format("/dev/fuse: {}; a container's device rules may forbid it", errno_text(error)));
}

}  // namespace landtrace::daemon
