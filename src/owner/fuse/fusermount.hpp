// The program fusermount3, which mounts and unmounts for users without the right to.
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace landtrace::fuse::fusermount {

// `options` as its -o takes them. ENOENT: it is not installed. EPERM, with its own words: it refuses.
Result<Fd> mount(const std::string& folder, const std::string& options);
// Lazily.
Result<void> unmount(const std::string& folder);

}  // namespace landtrace::fuse::fusermount
