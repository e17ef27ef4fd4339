// Lines of an order, as hosts send them, on standard output.
#pragma once

#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "fleet/serving/transport.hpp"

namespace landtrace::fleet {

// For SIGTERM; ^C is for who has started this, and ends it when the hosts have ended. Before there are other threads.
Result<Fd> term_signal();

// Until SIGTERM, and what had come by then, or its parent's end. `listens`, a descriptor, is closed when it listens.
Result<void> print_lines(const Transport& transport, const std::string& order, int listens);

}  // namespace landtrace::fleet
