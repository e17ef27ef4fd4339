// Rows by a number each, however many there are.
#pragma once

#include <cstdint>
#include <vector>

namespace landtrace::language {

// The number stands beside the row: a million rows are not looked up for each comparison.
struct Ranked {
  std::uint64_t rank;
  std::uint32_t row;
};

// Those of equal ranks stay in the order in which they are. Takes a few ns a row.
void sort_by_rank(std::vector<Ranked>& rows);

}  // namespace landtrace::language
