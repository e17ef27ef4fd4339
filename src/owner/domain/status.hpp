// The texts that list all events.
#pragma once

#include <string>

#include "domain/events.hpp"

namespace landtrace::domain {

// The user_events_status file, in the kernel's order (that of its hash table). 6.0 and 6.1 say more.
std::string status_text(Events& events, abi::Version abi = abi::Version::k6_12);
// The synthetic_events and dynamic_events files, in the order of registration.
std::string synthetic_events_text(Events& events);
std::string dynamic_events_text(Events& events);

}  // namespace landtrace::domain
