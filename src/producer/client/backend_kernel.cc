#include "client/backend_kernel.hpp"

#include <fcntl.h>
#include <mntent.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "abi/user_events.hpp"

namespace landtrace::client::kernel {
namespace {

int open_data(const std::string& folder) { return ::open((folder + "/user_events_data").c_str(), O_RDWR | O_CLOEXEC); }

// $LANDTRACE_TRACEFS, the usual place, else wherever /proc/mounts has a tracefs.
int find_and_open() {
  if (const char* const named = ::secure_getenv("LANDTRACE_TRACEFS")) return open_data(named);
  int fd = open_data("/sys/kernel/tracing");
  if (fd >= 0) return fd;
  std::FILE* const mounts = ::setmntent("/proc/self/mounts", "re");
  if (mounts == nullptr) return -1;
  mntent entry{};
  char buffer[4096];
  while (fd < 0 && ::getmntent_r(mounts, &entry, buffer, sizeof buffer) != nullptr) {
    if (std::strcmp(entry.mnt_type, "tracefs") == 0) fd = open_data(entry.mnt_dir);
  }
  ::endmntent(mounts);
  return fd;
}

// One file for the life of the process, shared by its children as the kernel has it.
int data_file() {
  static const int fd = find_and_open();
  return fd;
}

}  // namespace

Result<std::int32_t> register_event(const char* declaration, std::uint16_t flags, std::uint32_t* word) {
  const int fd = data_file();
  if (fd < 0) return fail(ENOENT, "no tracefs here serves user_events");
  abi::UserReg request{};
  request.size = sizeof request;
  request.enable_size = sizeof *word;
  request.flags = flags;
  request.enable_addr = reinterpret_cast<std::uint64_t>(word);
  request.name_args = reinterpret_cast<std::uint64_t>(declaration);
  if (::ioctl(fd, abi::kIoctlRegister, &request) != 0) return fail_errno("DIAG_IOCSREG");
  return static_cast<std::int32_t>(request.write_index);
}

void unregister_event(std::uint32_t* word) {
  abi::UserUnreg request{};
  request.size = sizeof request;
  request.disable_addr = reinterpret_cast<std::uint64_t>(word);
  ::ioctl(data_file(), abi::kIoctlUnregister, &request);
}

int write_event(std::int32_t index, const iovec* vectors, int count) {
  constexpr int kMaxVectors = 64;
  iovec all[kMaxVectors + 2];
  if (count < 0 || count > kMaxVectors) return -EINVAL;
  std::size_t payload = 0;
  for (int i = 0; i < count; ++i) payload += vectors[i].iov_len;
  if (payload > 65536) return -E2BIG;
  all[0] = {&index, sizeof index};
  if (count > 0) std::memcpy(all + 1, vectors, static_cast<std::size_t>(count) * sizeof(iovec));
  const int saved_errno = errno;
  const ssize_t n = ::writev(data_file(), all, count + 1);
  const int result = n < 0 ? -errno : 0;
  errno = saved_errno;
  return result;
}

}  // namespace landtrace::client::kernel
