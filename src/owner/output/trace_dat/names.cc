#include "output/trace_dat/names.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "output/trace_dat/file_ops.hpp"

namespace landtrace::output::trace_dat {

std::string follow_links(const std::string& path, bool only_own) {
  constexpr int kMostLinks = 40;  // as open(2) has it
  struct stat named {};
  const bool is_there = ::stat(path.c_str(), &named) == 0;
  if (is_there && !S_ISREG(named.st_mode)) return path;
  std::filesystem::path at = path;
  for (int i = 0; i < kMostLinks; ++i) {
    struct stat status {};
    if (::lstat(at.c_str(), &status) != 0 && is_there) return path;
    if (!S_ISLNK(status.st_mode)) {
      const bool is_same = status.st_ino == named.st_ino && status.st_dev == named.st_dev;
      return is_same || !is_there ? at.string() : path;
    }
    if (only_own && status.st_uid != ::geteuid() && status.st_uid != 0) return path;
    std::error_code error;
    const auto target = std::filesystem::read_symlink(at, error);
    if (error) return path;
    at = at.parent_path() / target;
  }
  return path;
}

bool swap_names(const std::string& a, const std::string& b) {
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0;
}

Result<void> rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) return fail_errno("rename " + from + " to " + to);
  return {};
}

Result<void> rename_to_free(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS) return fail_errno("rename " + from + " to " + to);
  struct stat status {};
  if (::lstat(to.c_str(), &status) == 0) return fail_errno("rename " + from + " to " + to, EEXIST);
  return rename_file(from, to);
}

// Who looks whether he may record there has the name for a moment, and gives it back.
Result<void> rename_over_unused(const std::string& from, const std::string& to) {
  constexpr int kMostWaits = 1000;
  constexpr useconds_t kWait = 1000;
  remove_aside(to);
  auto renamed = rename_to_free(from, to);
  for (int i = 0; i < kMostWaits && !renamed && renamed.error().code == EEXIST; ++i) {
    ::usleep(kWait);
    renamed = rename_to_free(from, to);
  }
  return renamed;
}

Result<void> put_in_place(const std::string& from, const std::string& to) {
  return swap_names(from, to) ? Result<void>() : rename_file(from, to);
}

}  // namespace landtrace::output::trace_dat
