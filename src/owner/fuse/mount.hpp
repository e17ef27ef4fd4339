// Mounting and unmounting. A mount has the type fuse.tracefs. Whoever looks into it waits until a Session serves it.
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace landtrace::fuse {

struct MountOptions {
  bool allow_other = false;  // other users than the mounter may look into it
  std::string name = "landtrace";
};

// By mount(2): for root, and for root of a user namespace. Replaces a mount whose owner has died. ENOENT, ENOTDIR,
// EPERM; ENODEV: the kernel has no FUSE.
Result<Fd> mount_here(const std::string& folder, const MountOptions& options);
// By the program fusermount3, which is setuid root. The error's message has its words.
Result<Fd> mount_with_fusermount(const std::string& folder, const MountOptions& options);
// For both kinds. A mount with open files only goes out of sight: the files are usable until they are closed.
Result<void> unmount(const std::string& folder);

}  // namespace landtrace::fuse
