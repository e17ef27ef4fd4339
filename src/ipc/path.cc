#include "ipc/path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

namespace landtrace::ipc {
namespace {

std::string folder_name() {
  const char* const runtime = ::secure_getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && runtime[0] == '/') return std::string(runtime) + "/landtrace";
  return "/tmp/landtrace-" + std::to_string(::geteuid());
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

std::string default_socket() {
  const char* const named = ::secure_getenv(kSocketVariable);
  if (named != nullptr && named[0] != '\0') return named;
  return folder_name() + "/domain.sock";
}

}  // namespace landtrace::ipc
