#include "domain/slot_index.hpp"

#include <utility>

namespace landtrace::domain {

void SlotIndex::put(Cell cell) {
  std::size_t i = home_of(cell.hash);
  while (cells_[i].slot != kNone) i = next(i);
  cells_[i] = cell;
}

void SlotIndex::insert(std::uint32_t hash, std::uint32_t slot) {
  constexpr std::size_t kFewest = 16;
  if (4 * (used_ + 1) > 3 * cells_.size()) {
    const std::size_t more = cells_.empty() ? kFewest : 2 * cells_.size();
    const std::vector<Cell> old = std::exchange(cells_, std::vector<Cell>(more, {0, kNone}));
    for (const Cell& cell : old) {
      if (cell.slot != kNone) put(cell);
    }
  }
  put({hash, slot});
  ++used_;
}

void SlotIndex::erase(std::uint32_t hash, std::uint32_t slot) {
  if (cells_.empty()) return;
  std::size_t hole = home_of(hash);
  while (cells_[hole].slot != slot) {
    if (cells_[hole].slot == kNone) return;
    hole = next(hole);
  }
  --used_;
  // What stands behind moves up, unless its home is behind the hole: a search must find no free cell on its way.
  for (std::size_t i = next(hole); cells_[i].slot != kNone; i = next(i)) {
    const std::size_t mask = cells_.size() - 1;
    const std::size_t way = (i - home_of(cells_[i].hash)) & mask;
    if (way < ((i - hole) & mask)) continue;
    cells_[hole] = cells_[i];
    hole = i;
  }
  cells_[hole].slot = kNone;
}

}  // namespace landtrace::domain
