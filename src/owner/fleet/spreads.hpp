// What an order has counted, by group: how often, and how the values are spread. A group is by labels of hosts, by keys
// of the histogram, or by both.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/host_room.hpp"
#include "fleet/sums.hpp"
#include "measure/distribution.hpp"

namespace landtrace::fleet {

struct SpreadGroup {
  std::vector<std::string> key = {};  // a text for each name in Spreads::by
  std::uint64_t count = 0;
  measure::Distribution spread = {};
};

struct Spreads {
  std::string event = {};
  std::vector<std::string> keys = {};     // by which the histogram counts: what a group can be by besides labels
  std::optional<std::string> value = {};  // whose spread it is; none: it is counted alone
  bool is_time = false;                   // … in nanoseconds
  std::vector<std::string> by = {};
  SpreadGroup all = {};
  std::vector<SpreadGroup> groups = {};  // those with the highest p99, or count, first
  Unpaired unpaired = {};
  std::uint64_t dropped = 0;
  std::uint64_t hosts = 0;
  // Hosts whose histogram has other keys, or whose frame makes no sense, or that have sent more than is added up.
  std::vector<std::string> misfits = {};
};

// An entry for each event. Of a name that is both, the key counts; a label that a host does not have is "".
// `room`: of all that is kept of such answers at a time.
std::vector<Spreads> spreads_of(const Sums& sums, const std::string& order, const std::vector<std::string>& by,
                                HostRoom& room);
std::vector<Spreads> spreads_of(const Sums& sums, const std::string& order, const std::vector<std::string>& by);

}  // namespace landtrace::fleet
