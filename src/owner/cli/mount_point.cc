#include "cli/mount_point.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "base/fd.hpp"

namespace landtrace::cli {
namespace {

constexpr mode_t kFolderMode = 0755;

bool is_folder(const std::string& path) {
  struct stat st {};
  return ::stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

// Empty where the folder cannot be read: nobody saw names there before, either.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

// Mounts what the path `below` leads to, which is under the cover, at `above`.
Result<void> show_again(const std::string& below, const std::string& above) {
  struct stat st {};
  if (::lstat(below.c_str(), &st) != 0) return {};  // this user could not see it before, either
  if (S_ISLNK(st.st_mode)) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(below, error);
    if (!error && ::symlink(target.c_str(), above.c_str()) == 0) return {};
    return fail_errno("symlink " + above);
  }
  if (S_ISDIR(st.st_mode)) {
    if (::mkdir(above.c_str(), kFolderMode) != 0) return fail_errno("mkdir " + above);
  } else if (!Fd(::open(above.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600))) {
    return fail_errno("open " + above);
  }
  if (::mount(below.c_str(), above.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0) return {};
  return fail_errno("mount " + above);
}

Result<void> cover(const std::string& folder) {
  const Fd below(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!below) return fail_errno(folder);
  const std::vector<std::string> names = names_in(folder);
  if (::mount("landtrace-cover", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755") != 0) {
    return fail_errno("a tmpfs on " + folder);
  }
  for (const std::string& name : names) {
    LT_CHECK(show_again(fmt::format("/proc/self/fd/{}/{}", below.get(), name), folder + "/" + name));
  }
  return {};
}

}  // namespace

Result<void> make_mount_point(const std::string& folder) {
  if (is_folder(folder)) return {};
  const std::string parent = std::filesystem::path(folder).parent_path().string();
  if (parent.empty() || parent == folder) return fail(ENOENT, "there is no folder " + folder);
  LT_CHECK(make_mount_point(parent));
  if (::mkdir(folder.c_str(), kFolderMode) == 0) return {};
  LT_CHECK(cover(parent));
  if (is_folder(folder) || ::mkdir(folder.c_str(), kFolderMode) == 0) return {};
  return fail_errno("mkdir " + folder);
}

}  // namespace landtrace::cli
