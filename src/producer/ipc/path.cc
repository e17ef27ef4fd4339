#include "ipc/path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "ipc/socket.hpp"

namespace landtrace::ipc {
namespace {

std::string folder_name() {
  const char* const runtime = ::secure_getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return std::string(runtime) + "/landtrace";
  return "/tmp/landtrace-" + std::to_string(::geteuid());
}

bool is_system_socket() {
  struct stat st {};
  return ::lstat(kSystemSocket, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == 0;
}

// A socket whose owner was killed stays behind: only an answer counts.
bool is_served(const std::string& path) {
  const int fd = connect_plain(path.c_str(), true);
  if (fd >= 0) ::close(fd);
  // One that lets nobody in, or has no time, is there.
  return fd >= 0 || (fd != -ENOENT && fd != -ECONNREFUSED);
}

}  // namespace

Result<std::string> runtime_folder() {
  std::string folder = folder_name();
  if (::mkdir(folder.c_str(), 0711) != 0 && errno != EEXIST) return fail_errno("mkdir " + folder);
  struct stat st {};
  if (::lstat(folder.c_str(), &st) != 0) return fail_errno("stat " + folder);
  if (!S_ISDIR(st.st_mode) || st.st_uid != ::geteuid()) {
    return fail(EPERM, folder + " belongs to another user; set XDG_RUNTIME_DIR to a folder of your own");
  }
  return folder;
}

std::string user_socket() { return folder_name() + "/domain.sock"; }

std::string default_socket() {
  const char* const named = ::secure_getenv(kSocketVariable);
  if (named != nullptr && named[0] != '\0') return named;
  std::string own = user_socket();
  const int saved_errno = errno;
  const bool use_system = is_system_socket() && !is_served(own);
  errno = saved_errno;
  return use_system ? kSystemSocket : own;
}

}  // namespace landtrace::ipc
