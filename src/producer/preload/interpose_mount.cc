// mount(2), which is asked to change the group, owner or mode of a tree with MS_REMOUNT, as it changes those of the
// kernel's tracefs. FUSE takes such options and does nothing. So they become what it passes on: chown and chmod of the
// mount's top folder, which stand for all files that have none of their own (fuse/inodes.hpp).
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "preload/real.hpp"

namespace landtrace::preload {
namespace {

constexpr std::size_t kMaxPath = 4096;

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

// NUMBER of "…,NAME=NUMBER,…", where it is one; the last one counts.
bool find_option(const char* options, const char* name, int base, unsigned& number) {
  bool is_there = false;
  const std::size_t length = std::strlen(name);
  for (const char* at = options; at != nullptr && *at != '\0';) {
    const char* const end = std::strchr(at, ',');
    if (std::strncmp(at, name, length) == 0 && at[length] >= '0' && at[length] <= '9') {
      char* rest = nullptr;
      const unsigned long value = std::strtoul(at + length, &rest, base);
      if (value < ~0u && (*rest == '\0' || *rest == ',')) {
        number = static_cast<unsigned>(value);
        is_there = true;
      }
    }
    at = end == nullptr ? nullptr : end + 1;
  }
  return is_there;
}

int apply(const char* folder, const char* options) {
  unsigned uid = ~0u;
  unsigned gid = ~0u;
  unsigned mode = 0;
  const bool has_owner = find_option(options, "uid=", 10, uid);
  const bool has_group = find_option(options, "gid=", 10, gid);
  if ((has_owner || has_group) && ::chown(folder, uid, gid) != 0) return -1;
  if (find_option(options, "mode=", 8, mode) && ::chmod(folder, mode & 07777) != 0) return -1;
  return 0;
}

}  // namespace
}  // namespace landtrace::preload

LT_EXPORT int mount(const char* source, const char* target, const char* type, unsigned long flags, const void* data) {
  using Mount = int (*)(const char*, const char*, const char*, unsigned long, const void*);
  static const auto real_mount = reinterpret_cast<Mount>(landtrace::preload::find_next("mount"));
  if (real_mount == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  const int result = real_mount(source, target, type, flags, data);
  // A remount of what is bound elsewhere has no options of a file system.
  const bool has_options = (flags & MS_REMOUNT) != 0 && (flags & MS_BIND) == 0 && data != nullptr;
  if (result != 0 || !has_options || !landtrace::preload::is_our_tree(target)) return result;
  return landtrace::preload::apply(target, static_cast<const char*>(data));
}
