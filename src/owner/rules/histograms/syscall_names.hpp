// Names of system calls of x86-64, as the kernel's tracing has them.
#pragma once

#include <cstdint>
#include <string_view>

namespace landtrace::rules {

// "sys_read"; "unknown_syscall" for a number that has none.
std::string_view syscall_name(std::uint64_t number);

}  // namespace landtrace::rules
