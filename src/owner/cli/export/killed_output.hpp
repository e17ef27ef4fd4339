// What `landtrace record --format` has left where it was killed, or the disk was full: PATH.partial without its end.
#pragma once

#include <string>

#include "base/result.hpp"

namespace landtrace::cli {

// The PATH of such a file or folder, whether that is named or PATH.partial; "": there is none.
std::string path_of_killed(const std::string& named);

// Cuts it where the last whole event ends, writes what belongs behind that, and gives it its name. EBUSY: it is being
// recorded. ENODATA: nothing of it had been written. EINVAL: it is of no format that can be read without its end.
// EBADMSG, with the offset: it is damaged, and more would go than the event that was being written; nothing is changed.
Result<void> complete_killed(const std::string& path);

}  // namespace landtrace::cli
