// Gives files other names so that what has one is never without any.
#pragma once

#include <string>

#include "base/result.hpp"

namespace landtrace::output::trace_dat {

// Where the path leads to as a link. A recording has several files: all are beside that one, or its journal is alone on
// another disk. Itself where it is none, or leads to no file, or to one without a name, as those in /proc may.
// `only_own`: another user's link is not followed, as he would choose the place.
std::string follow_links(const std::string& path, bool only_own);

// Exchanges two names. False, with errno: not on this file system, or one of them is not there.
bool swap_names(const std::string& a, const std::string& b);

Result<void> rename_file(const std::string& from, const std::string& to);

// EEXIST where there is something of that name.
Result<void> rename_to_free(const std::string& from, const std::string& to);

// rename() in place of another file has ext4 write out all of the new one first, so that a power failure does not leave
// an empty one: a second for 1.5 GB. The same without that, where nobody needs what is at `to`. EEXIST: another file
// has come there since.
Result<void> rename_over_unused(const std::string& from, const std::string& to);

// And where there is to be one of the two at every moment. What was at `to` is at `from` then, or gone where names
// cannot be exchanged.
Result<void> put_in_place(const std::string& from, const std::string& to);

}  // namespace landtrace::output::trace_dat
