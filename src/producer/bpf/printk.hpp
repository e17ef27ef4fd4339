// The lines of bpf_trace_printk().
#pragma once

#include "bpf/execution.hpp"

namespace landtrace::bpf {

inline constexpr std::size_t kMaxPrinted = 512;

// `format` with three arguments, in `line`, as long as there is room: %c, %d, %i, %u, %x, %X, %p, %s with l and ll, h
// and hh, a width, zeros or a minus before it, and %%. Returns the length; -EINVAL for another one, or no NUL.
std::int64_t print_line(Execution& run, const char* format, std::size_t size, const std::uint64_t (&arguments)[3],
                        char (&line)[kMaxPrinted]);

}  // namespace landtrace::bpf
