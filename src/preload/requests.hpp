// The ioctls of user_events_data, with the kernel's checks and answers.
#pragma once

#include "preload/fd_table.hpp"

namespace landtrace::preload {

inline constexpr unsigned long kRegister = 0xc0082a00;    // DIAG_IOCSREG, _IOWR('*', 0, struct user_reg *)
inline constexpr unsigned long kDelete = 0x40082a01;      // DIAG_IOCSDEL, _IOW('*', 1, char *)
inline constexpr unsigned long kUnregister = 0x40082a02;  // DIAG_IOCSUNREG, _IOW('*', 2, struct user_unreg *)

inline bool is_data_request(unsigned long request) {
  return request == kRegister || request == kDelete || request == kUnregister;
}

// Returns 0 or a negative errno.
int data_request(FdEntry file, unsigned long request, void* argument);

// Around fork: the owner is told before, since the parent may end before its child has said a word. In the child, its
// copies of enable words are made known to the owner before fork() returns.
void announce_fork();
void announce_child();

}  // namespace landtrace::preload
