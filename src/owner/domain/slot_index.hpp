// Finds slots by what their events are called, without a copy of the names: a cell has a name's hash and the slot.
// Cells stand in one table, those of equal hashes one behind the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace landtrace::domain {

class SlotIndex {
 public:
  static std::uint32_t hash_of(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
  }

  void insert(std::uint32_t hash, std::uint32_t slot);
  void erase(std::uint32_t hash, std::uint32_t slot);

  // The first slot with that hash of which `is_it` says so; kNone.
  static constexpr std::uint32_t kNone = ~0u;
  template <typename IsIt>
  [[nodiscard]] std::uint32_t find(std::uint32_t hash, IsIt is_it) const {
    if (cells_.empty()) return kNone;
    for (std::size_t i = home_of(hash); cells_[i].slot != kNone; i = next(i)) {
      if (cells_[i].hash == hash && is_it(cells_[i].slot)) return cells_[i].slot;
    }
    return kNone;
  }

 private:
  struct Cell {
    std::uint32_t hash;
    std::uint32_t slot;  // kNone: free
  };

  // The number of cells is a power of two.
  [[nodiscard]] std::size_t home_of(std::uint32_t hash) const { return hash & (cells_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t cell) const { return (cell + 1) & (cells_.size() - 1); }
  void put(Cell cell);

  std::vector<Cell> cells_;
  std::size_t used_ = 0;
};

}  // namespace landtrace::domain
