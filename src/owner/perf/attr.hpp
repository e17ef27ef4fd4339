// perf_event_attr as programs of any age pass it.
#pragma once

#include <linux/perf_event.h>

#include "base/result.hpp"

namespace landtrace::perf {

// Of the first version; what is longer must be zero beyond what is known here. EFAULT, E2BIG; with E2BIG the program's
// attr.size says what we know, as the kernel does it.
Result<perf_event_attr> read_attr(void* from);

// EINVAL for what is not known or a combination that the kernel refuses, EOPNOTSUPP for what a software event has not,
// EOVERFLOW for stacks that are too deep.
Result<void> check_attr(const perf_event_attr& attr);

// Memory of the program itself, which may not be there.
bool copy_in(void* to, const void* from, std::size_t size);
bool copy_out(void* to, const void* from, std::size_t size);

}  // namespace landtrace::perf
