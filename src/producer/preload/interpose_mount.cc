// mount(2), which is asked by MS_REMOUNT to change the group, owner or mode of a tree, as it changes those of the
// kernel's tracefs. The kernel's FUSE takes such options and does nothing, so the tree is told of them by an extended
// attribute of its top folder. mount(8) leaves what is "fuse.…" to a helper, mount.fuse, which knows nothing of
// remounts: execv() does what that was to do.
#include <cstring>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "preload/real.hpp"
#include "preload/unprobed_programs.hpp"

namespace landtrace::preload {
namespace {

constexpr std::size_t kMaxPath = 4096;
// What mount(8) ends with when a mount has failed.
constexpr int kMountFailed = 32;

bool is_our_tree(const char* folder) {
  constexpr long kFuseMagic = 0x65735546;
  struct statfs where {};
  if (::statfs(folder, &where) != 0 || where.f_type != kFuseMagic) return false;
  char file[kMaxPath];
  const std::size_t length = ::strnlen(folder, kMaxPath);
  constexpr char kName[] = "/user_events_data";
  if (length + sizeof kName > sizeof file) return false;
  std::memcpy(file, folder, length);
  std::memcpy(file + length, kName, sizeof kName);
  return ::faccessat(AT_FDCWD, file, F_OK, 0) == 0;
}

bool has_option(const char* options, const char* name) {
  const std::size_t length = std::strlen(name);
  for (const char* at = options; at != nullptr; at = std::strchr(at, ',')) {
    if (*at == ',') ++at;
    if (std::strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
  }
  return false;
}

int remount(const char* folder, const char* options) {
  return ::setxattr(folder, "user.landtrace.remount", options, std::strlen(options), 0);
}

// HELPER SOURCE FOLDER … -o OPTIONS …
const char* options_of(char* const* words) {
  for (; *words != nullptr; ++words) {
    if (std::strcmp(*words, "-o") == 0) return words[1];
  }
  return nullptr;
}

// Not in line: the compiler takes execv's path for one that is never null.
[[gnu::noinline]] bool is_helper(const char* path) {
  if (path == nullptr) return false;
  const char* const slash = std::strrchr(path, '/');
  return std::strncmp(slash == nullptr ? path : slash + 1, "mount.fuse", 10) == 0;
}

// Whether mount.fuse is to change our tree in a way that the kernel has no part in.
bool is_remount_by_helper(char* const* words) {
  if (words == nullptr || words[0] == nullptr || words[1] == nullptr || words[2] == nullptr) return false;
  const char* const options = options_of(words + 3);
  return options != nullptr && has_option(options, "remount") && !has_option(options, "ro") && is_our_tree(words[2]);
}

}  // namespace
}  // namespace landtrace::preload

using namespace landtrace::preload;

LT_EXPORT int mount(const char* source, const char* target, const char* type, unsigned long flags, const void* data) {
  const int result = real().mount(source, target, type, flags, data);
  // A remount of what is bound elsewhere has no options of a file system.
  const bool has_options = (flags & MS_REMOUNT) != 0 && (flags & MS_BIND) == 0 && data != nullptr;
  if (result != 0 || !has_options || !is_our_tree(target)) return result;
  return remount(target, static_cast<const char*>(data));
}

LT_EXPORT int execv(const char* path, char* const* words) {
  if (is_helper(path) && is_remount_by_helper(words)) {
    ::_exit(remount(words[2], options_of(words + 3)) == 0 ? 0 : kMountFailed);
  }
  note_program(path);
  return real().execv(path, words);
}
