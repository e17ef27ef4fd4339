// What was counted in the slots of a period, by groups of hosts.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fleet/frame.hpp"

namespace landtrace::fleet {

class SlotTables {
 public:
  // `shape`: a table's keys and values. `group_names`: of the keys that stand before its own.
  SlotTables(const ipc::HistogramTable& shape, const std::vector<std::string>& group_names, std::uint32_t slots);

  [[nodiscard]] std::uint32_t group(const std::vector<std::string>& values);

  // Slots from 1 on. Keys are those of row_key.hpp; a row has as many values as the shape. What an action keeps is no
  // sum: the largest one that is added counts, and it is not subtracted. EPROTO for other keys than the shape's.
  struct Row {
    std::string_view key;
    std::uint64_t step = 0;
    std::uint64_t hits = 0;
    std::span<const std::uint64_t> values;
  };
  Result<void> add(std::uint32_t slot, std::uint32_t group, const Row& row);
  Result<void> subtract(std::uint32_t slot, std::uint32_t group, const Row& row);
  // Of all rows of a frame.
  struct Totals {
    std::uint64_t hits = 0;
    std::uint64_t dropped = 0;
    Unpaired unpaired;
  };
  void add(std::uint32_t slot, const Totals& totals);
  void subtract(std::uint32_t slot, const Totals& totals);

  // A table for each slot, of rows with events.
  struct Slot {
    ipc::HistogramTable table;
    Unpaired unpaired;
  };
  [[nodiscard]] std::vector<Slot> slots() const;

 private:
  struct Part {
    std::vector<ipc::HistogramRow> rows;
    std::unordered_map<std::string, std::size_t> places;
    Totals totals;
  };
  Result<ipc::HistogramRow*> row_of(Part& part, std::uint32_t group, const Row& row);

  ipc::HistogramTable shape_;
  ipc::HistogramTable own_shape_;
  std::vector<std::vector<std::string>> groups_;
  std::unordered_map<std::string, std::uint32_t> group_numbers_;
  std::vector<Part> parts_;
  std::string name_;
};

}  // namespace landtrace::fleet
