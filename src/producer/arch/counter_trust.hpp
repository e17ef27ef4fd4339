// Whether the kernel trusts the CPU's counter, by what it says of its clocks.
#pragma once

#include <string_view>

namespace landtrace::arch {

// By the files current_clocksource and available_clocksource: it keeps time by the counter; or by a hypervisor's clock,
// which virtual machines prefer, and would take the counter in its place. A counter that has turned out to be unstable,
// or is said to be so (tsc=unstable), is not among the available ones.
bool is_counter_trusted(std::string_view current, std::string_view available);

}  // namespace landtrace::arch
