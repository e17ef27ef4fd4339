// Objects as perf wants them: where in memory which part of a file is run.
#pragma once

#include <cstdint>
#include <vector>

#include "output/stack/object_map.hpp"

namespace landtrace::output::perf_data {

struct Mapping {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t file_offset = 0;
};

// By the segments of the object's file. Where it cannot be read, or is another one by now, the whole object is taken
// for one mapping of it.
std::vector<Mapping> mappings_of(const MappedObject& object);

}  // namespace landtrace::output::perf_data
