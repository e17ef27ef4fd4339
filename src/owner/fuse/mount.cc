#include "fuse/mount.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <climits>
#include <cstdlib>

#include "fuse/fusermount.hpp"

namespace landtrace::fuse {
namespace {

// As a tracefs is mounted.
constexpr unsigned long kMountFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

bool is_dead(const std::string& folder) {
  struct stat ignored {};
  return ::stat(folder.c_str(), &ignored) != 0 && errno == ENOTCONN;
}

// Unmounts what dead owners have left at the folder.
Result<void> clear(const std::string& folder) {
  constexpr int kMostDead = 16;
  for (int i = 0; i < kMostDead && is_dead(folder); ++i) LT_CHECK(unmount(folder));
  struct stat about {};
  if (::stat(folder.c_str(), &about) != 0) return fail_errno("mount on " + folder);
  if (!S_ISDIR(about.st_mode)) return fail(ENOTDIR, folder + " is not a folder");
  return {};
}

}  // namespace

Result<Fd> mount_here(const std::string& folder, const MountOptions& options) {
  LT_CHECK(clear(folder));
  Fd fuse(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!fuse) return fail_errno("open /dev/fuse");
  const std::string data =
      fmt::format("fd={},rootmode={:o},user_id={},group_id={},default_permissions{}", fuse.get(), unsigned{S_IFDIR},
                  ::geteuid(), ::getegid(), options.allow_other ? ",allow_other" : "");
  if (::mount(options.name.c_str(), folder.c_str(), "fuse.tracefs", kMountFlags, data.c_str()) != 0) {
    return fail_errno("mount on " + folder);
  }
  return fuse;
}

Result<Fd> mount_with_fusermount(const std::string& folder, const MountOptions& options) {
  LT_CHECK(clear(folder));
  return fusermount::mount(folder, fmt::format("rw,nosuid,nodev,noexec,default_permissions,subtype=tracefs,fsname={}{}",
                                               options.name, options.allow_other ? ",allow_other" : ""));
}

Result<void> unmount(const std::string& folder) {
  if (::umount2(folder.c_str(), UMOUNT_NOFOLLOW) == 0) return {};
  if (errno == EBUSY && ::umount2(folder.c_str(), UMOUNT_NOFOLLOW | MNT_DETACH) == 0) return {};
  if (errno != EPERM) return fail_errno("unmount " + folder);
  return fusermount::unmount(folder);
}

}  // namespace landtrace::fuse
