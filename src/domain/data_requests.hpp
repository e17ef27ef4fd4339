// The ioctls of user_events_data as they come through a mount: a command, and an address in the caller's memory.
#pragma once

#include "domain/domain.hpp"

namespace landtrace::domain {

// What thread `tid` of `who` asks of its open file. The structure and the strings are read from its process, as far as `who`
// may touch that, and results are written there. Returns the system call's result: the place in the page of bytes
// for the 2021 proposal's registration, else 0. Errors are the kernel's, and
//   EPERM   the process is not to be seen from here (tid 0: it is in another pid namespace), or is not `who`'s to touch
//   EFAULT  also where its memory does not answer
// Enters the domain.
Result<int> data_request(Domain& domain, FileId file, std::uint32_t tid, Identity who, unsigned command,
                         std::uint64_t argument);

}  // namespace landtrace::domain
