#include "cli/export/rename.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>

namespace landtrace::cli {

Result<void> rename_to_free(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS) return fail_errno(to);
  // This file system cannot be asked for it.
  struct stat there {};
  if (::lstat(to.c_str(), &there) == 0) return fail_errno(to, EEXIST);
  if (std::rename(from.c_str(), to.c_str()) != 0) return fail_errno(to);
  return {};
}

}  // namespace landtrace::cli
