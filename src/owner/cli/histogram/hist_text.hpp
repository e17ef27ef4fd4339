// What an event's `hist` file says of one histogram, taken apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace landtrace::cli {

struct HistRow {
  std::vector<std::string> keys;      // as the file prints them, without padding
  std::vector<std::uint64_t> values;  // the hit count, then what was asked for
};

struct HistTable {
  std::vector<HistRow> rows;
  std::uint64_t hits = 0;
  std::uint64_t dropped = 0;
};

// `keys`: the names of its keys as the file prints them, in order. EINVAL with the line that is none of such a
// histogram.
Result<HistTable> parse_hist(std::string_view text, const std::vector<std::string>& keys);

// "~ 2^10" -> 10. EINVAL.
Result<unsigned> power_of(std::string_view key);

}  // namespace landtrace::cli
