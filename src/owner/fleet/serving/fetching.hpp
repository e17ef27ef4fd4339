// Gives an order for snapshots, answers hosts that ask what time it is, and takes the snapshots.
#pragma once

#include "fleet/order.hpp"
#include "fleet/serving/transport.hpp"

namespace landtrace::fleet {

struct FetchOptions {
  std::string folder;
  std::uint64_t patience_ms = 0;
  std::string key = {};  // a file: the order is signed with it
};

// Into `folder`: N.dat for a host with events, and `hosts`: the moment of them all, in nanoseconds of the monotonic
// clock here, then a line for each host that the order is for (fetched.hpp). A host of which nothing
// comes for `patience_ms` is given up. ENOENT: the order is for no host. The order has ended then.
Result<void> fetch_snapshots(Transport& transport, const Order& order, const FetchOptions& options);

inline constexpr const char* kHostsFile = "hosts";

}  // namespace landtrace::fleet
