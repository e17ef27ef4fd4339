// The ioctls of user_events_data, with the kernel's checks and answers.
#pragma once

#include "abi/user_events.hpp"
#include "preload/fd_table.hpp"

namespace landtrace::preload {

inline bool is_data_request(unsigned long request) {
  return request == abi::kIoctlRegister || request == abi::kIoctlDelete || request == abi::kIoctlUnregister ||
         request == abi::kIoctlRegisterPlain;
}

// Returns what the system call does, or a negative errno.
int data_request(int fd, FdEntry file, unsigned long request, void* argument);

// Around fork: the owner is told before, since the parent may end before its child has said a word. In the child, its
// copies of enable words are made known to the owner before fork() returns.
void announce_fork();
void announce_parent();
void announce_child();

// Another owner serves the domain from here on, which sees this process as `pid`.
void on_next_owner(std::uint32_t pid);

}  // namespace landtrace::preload
