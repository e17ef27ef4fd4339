// Keeps the kernel's own tracer out of reach of a command in a private tracefs, which as root may mount and unmount.
//
//   command, what it starts          guard, nobody's child             helper, one for each call
//   mount(…, "debugfs", …)  ------>  takes the request       fork -->  makes the mount in the thread's place, with our
//   stopped by seccomp                                                 tree where the kernel's tracefs would be, or
//   goes on  <-------------------------------------------------------  lets the thread make its call itself
//
// That is for accidents. A program that wants to get at the kernel's tracer has other ways.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace landtrace::cli {

// Puts the calling process, about to become the command, and all that it starts under a guard: a tracefs that they
// mount or bind is the one at `ours`, in a debugfs that one lies at `tracing`, and where ours lies over the kernel's it
// is not taken away (EBUSY). Mounts in the namespace `outside`, which only nsenter leads to, are left alone. Nothing
// happens in a user namespace, where the kernel lets nobody mount these, and where an outer command has a guard
// already. The process must have one thread.
Result<void> guard_mounts(const std::string& ours, std::uint64_t outside);

// How many seccomp filters the process has if the guard's is the only one of it and of the caller: that lets all pass
// but mounts. Else 0. Who is under a filter is shown none, but this can be told.
unsigned guards_filters(std::uint32_t pid);

// The caller's, for `outside`.
std::uint64_t mount_namespace();

}  // namespace landtrace::cli
