// One call of a command under the guard.
#pragma once

#include <linux/seccomp.h>

#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace landtrace::cli::guard {

// mount() of this type succeeds under a guard and changes nothing.
inline constexpr const char* kProbeType = "landtrace-guard";
// In the guard's namespace: the domain's files, and a folder to mount on.
inline constexpr const char* kOurs = "/ours";
inline constexpr const char* kWork = "/work";

// What other kinds of programs call mount() and umount() by: those of 32 bits have numbers of their own.
inline constexpr int kCompatMount = 21, kCompatOldUmount = 22, kCompatUmount = 52;

// Who makes the call.
enum class By { kThread, kGuard };

// In a helper, a process for this call alone: it changes its namespaces. kGuard: the
// call has been made, and succeeded. An error is the call's.
Result<By> decide(const seccomp_notif& asked, std::span<const std::uint64_t> elsewhere);

}  // namespace landtrace::cli::guard
