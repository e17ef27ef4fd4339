// A fleet's numbers as metrics. What is by host has the labels `host` and `domain` alone: landtrace_fleet_host_info
// has the others, to be joined.
#pragma once

#include <map>

#include "fleet/order.hpp"
#include "fleet/roster.hpp"
#include "fleet/spreads.hpp"
#include "metrics/families.hpp"

namespace landtrace::fleet {

struct FleetFigures {
  bool is_connected = false;  // to the transport
  const Roster& roster;
  std::map<std::string, Order> orders = {};                 // by id
  std::map<std::string, std::vector<Spreads>> counts = {};  // what was counted for them
  std::uint64_t now_ns = 0;                                 // monotonic
};

// Groups of histograms that are told, over all orders: each has a bucket for each power of two at most. How many were
// left out is a metric, too.
inline constexpr std::size_t kMostFleetGroups = 2000;

std::vector<metrics::Family> families_of(const FleetFigures& figures);

}  // namespace landtrace::fleet
