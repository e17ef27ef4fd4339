// What a perf.data file says of the machine and of itself.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "output/perf_data/format.hpp"

namespace landtrace::output::perf_data {

// Of this machine, in the order of their numbers.
std::vector<std::pair<Feature, std::string>> machine_features();

// The first and the last sample's.
std::string sample_time_feature(std::uint64_t first_ns, std::uint64_t last_ns);

// For each attr its bytes, its name and its id.
struct DescribedAttr {
  std::string bytes;
  std::string name;
  std::uint64_t id;
};
std::string event_descriptions_feature(const std::vector<DescribedAttr>& attrs);

}  // namespace landtrace::output::perf_data
