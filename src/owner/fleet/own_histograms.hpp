// Histograms that a host's own users have set up, of the same kind on several hosts: what they are called in frames.
#pragma once

#include <string>

namespace landtrace::fleet {

// Stands in frames where an order would be. No order has this name.
inline constexpr const char* kOwn = "own";

// "SYSTEM:EVENT hist:keys=route:vals=bytes if status >= 500", with "(INSTANCE) " before "hist" but for the top one.
// What says how a host keeps and shows it (size, sort, name, whether it is paused) is left out. `trigger`: as the
// `trigger` file shows it. A long one ends in a number that stands for the rest.
std::string own_event(const std::string& instance, const std::string& event, const std::string& trigger);
// "SYSTEM:EVENT" of that.
std::string event_of_own(const std::string& name);

}  // namespace landtrace::fleet
