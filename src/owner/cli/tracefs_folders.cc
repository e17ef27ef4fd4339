#include "cli/tracefs_folders.hpp"

#include <mntent.h>

#include <string_view>

namespace landtrace::cli {

std::vector<std::string> tracefs_folders(const char* mounts, const char* type) {
  std::vector<std::string> folders;
  FILE* const file = ::setmntent(mounts, "re");
  if (file == nullptr) return folders;
  while (const mntent* const line = ::getmntent(file)) {
    if (std::string_view(line->mnt_type) == type) folders.emplace_back(line->mnt_dir);
  }
  ::endmntent(file);
  return folders;
}

}  // namespace landtrace::cli
