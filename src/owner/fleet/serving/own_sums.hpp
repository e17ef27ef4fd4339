// What hosts' own histograms have counted, as the hosts have them now.
#pragma once

#include <string>
#include <vector>

#include "fleet/frame.hpp"
#include "fleet/serving/transport.hpp"

namespace landtrace::fleet {

// An entry for each histogram of the events that match, by labels. Of a host what its agent of now has sent: histograms
// go with the daemon that had them. EINVAL with a sentence for a bad pattern or `where`.
Result<std::vector<Frame>> own_sums(Transport& transport, const std::string& event, const std::string& where,
                                    const std::string& by);

}  // namespace landtrace::fleet
