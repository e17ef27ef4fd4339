// What came of a snapshot at a host, as landtrace-fleet tells it to landtrace.
#pragma once

#include <optional>
#include <string>

#include "fleet/snapshot_parts.hpp"

namespace landtrace::fleet {

struct Fetched {
  std::string host = {};
  std::string domain = {};
  std::string file = {};     // "": it had no events, or there is a problem
  std::string problem = {};  // why there is nothing
  std::optional<SnapshotEnd> end = {};

  friend bool operator==(const Fetched&, const Fetched&) = default;
};

std::string json_of(const Fetched& fetched);
// EBADMSG.
Result<Fetched> fetched_of(const std::string& json);

}  // namespace landtrace::fleet
