// What became of probes in programs: their agents say so, and those who record ask.
#pragma once

#include "host/server.hpp"

namespace landtrace::host {

// kPlacesRefused; of any program in the domain.
Response places_refused(rules::Rules& rules, std::uint32_t pid, std::string_view text);
// kRefusedPlaces; whoever asks may record.
Response refused_places(rules::Rules& rules, const domain::Event* event, std::uint64_t from);

}  // namespace landtrace::host
