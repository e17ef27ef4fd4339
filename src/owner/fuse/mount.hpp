// Mounting and unmounting. What is mounted has the type fuse.tracefs, and waits until a Session serves it: whoever looks
// into it before then waits too.
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace landtrace::fuse {

struct MountOptions {
  bool allow_other = false;  // other users than the mounter may look into it
  std::string name = "landtrace";
};

// By mount(2): for root, and for root of a user namespace. A mount whose owner has died is replaced. ENOENT, ENOTDIR,
// EPERM, ENODEV where the kernel has no FUSE.
Result<Fd> mount_here(const std::string& folder, const MountOptions& options);
// By the program fusermount3, which root has installed for users. Its words are in the error's message.
Result<Fd> mount_with_fusermount(const std::string& folder, const MountOptions& options);
// Whichever way it was mounted. While files are open below it, it only goes out of sight: they stay usable until they are
// closed.
Result<void> unmount(const std::string& folder);

}  // namespace landtrace::fuse
