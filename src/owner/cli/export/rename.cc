#include "cli/export/rename.hpp"

#include <fcntl.h>
#include <fmt/format.h>
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

Result<std::string> keep_killed(const std::string& path) {
  constexpr int kMost = 1000;
  for (int i = 1; i <= kMost; ++i) {
    std::string killed = path + (i == 1 ? ".killed" : fmt::format(".killed.{}", i));
    auto renamed = rename_to_free(path + ".partial", killed);
    if (renamed) return killed;
    if (renamed.error().code != EEXIST) return tl::unexpected<Error>(std::move(renamed).error());
  }
  return fail(EEXIST, fmt::format("{0}.killed to {0}.killed.{1} are there, of recorders that were killed: remove them, "
                                  "or move them elsewhere",
                                  path, kMost));
}

}  // namespace landtrace::cli
