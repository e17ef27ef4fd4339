#pragma once

namespace landtrace::preload {

// prctl and seccomp, called by their numbers.
long sandbox_syscall(long number, long a, long b, long c, long d, long e);

}  // namespace landtrace::preload
