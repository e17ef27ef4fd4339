#include "fleet/slot_tables.hpp"

#include <algorithm>

#include "fleet/row_key.hpp"

namespace landtrace::fleet {
namespace {

void append_bytes(std::string& name, std::uint64_t number) {
  name.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::uint64_t larger(const ipc::HistogramValue& type, std::uint64_t a, std::uint64_t b) {
  const bool a_is_less = type.is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  return a_is_less ? b : a;
}

// What a row begins with, to which nothing was added.
std::uint64_t least(const ipc::HistogramValue& type) {
  return type.is_kept && type.is_signed ? std::uint64_t{1} << 63 : 0;
}

}  // namespace

SlotTables::SlotTables(const ipc::HistogramTable& shape, const std::vector<std::string>& group_names,
                       std::uint32_t slots)
    : own_shape_(shape), parts_(slots) {
  shape_.trigger = shape.trigger;
  shape_.values = shape.values;
  for (const std::string& name : group_names) shape_.keys.push_back({ipc::KeyKind::kText, name, 0, 0});
  shape_.keys.insert(shape_.keys.end(), shape.keys.begin(), shape.keys.end());
}

std::uint32_t SlotTables::group(const std::vector<std::string>& values) {
  std::string name;
  for (const std::string& value : values) {
    append_bytes(name, value.size());
    name += value;
  }
  const auto [known, is_new] = group_numbers_.try_emplace(name, static_cast<std::uint32_t>(groups_.size()));
  if (is_new) groups_.push_back(values);
  return known->second;
}

Result<ipc::HistogramRow*> SlotTables::row_of(Part& part, std::uint32_t group, const Row& row) {
  name_.clear();
  append_bytes(name_, group);
  append_bytes(name_, row.step);
  name_ += row.key;
  const auto [known, is_new] = part.places.try_emplace(name_, part.rows.size());
  if (!is_new) return &part.rows[known->second];
  ipc::HistogramRow made;
  for (const std::string& value : groups_[group]) made.keys.push_back({0, value, {}});
  if (!read_keys(own_shape_, row.key, row.step, made)) {
    part.places.erase(known);
    return fail(EPROTO, "a row with other keys than its histogram has");
  }
  for (const ipc::HistogramValue& type : shape_.values) made.values.push_back(least(type));
  part.rows.push_back(std::move(made));
  return &part.rows.back();
}

Result<void> SlotTables::add(std::uint32_t slot, std::uint32_t group, const Row& row) {
  LT_TRY(ipc::HistogramRow* const known, row_of(parts_.at(slot - 1), group, row));
  known->hits += row.hits;
  for (std::size_t i = 0; i < known->values.size(); ++i) {
    const ipc::HistogramValue& type = shape_.values[i];
    known->values[i] = type.is_kept ? larger(type, known->values[i], row.values[i]) : known->values[i] + row.values[i];
  }
  return {};
}

Result<void> SlotTables::subtract(std::uint32_t slot, std::uint32_t group, const Row& row) {
  LT_TRY(ipc::HistogramRow* const known, row_of(parts_.at(slot - 1), group, row));
  known->hits -= row.hits;
  for (std::size_t i = 0; i < known->values.size(); ++i) {
    if (!shape_.values[i].is_kept) known->values[i] -= row.values[i];
  }
  return {};
}

void SlotTables::add(std::uint32_t slot, const Totals& totals) {
  Totals& sum = parts_.at(slot - 1).totals;
  sum.hits += totals.hits;
  sum.dropped += totals.dropped;
  sum.unpaired.starts += totals.unpaired.starts;
  sum.unpaired.ends += totals.unpaired.ends;
  sum.unpaired.lost += totals.unpaired.lost;
}

void SlotTables::subtract(std::uint32_t slot, const Totals& totals) {
  add(slot, {0 - totals.hits,
             0 - totals.dropped,
             {0 - totals.unpaired.starts, 0 - totals.unpaired.ends, 0 - totals.unpaired.lost}});
}

std::vector<SlotTables::Slot> SlotTables::slots() const {
  std::vector<Slot> slots;
  for (const Part& part : parts_) {
    Slot& slot = slots.emplace_back();
    slot.table = shape_;
    slot.table.hits = part.totals.hits;
    slot.table.dropped = part.totals.dropped;
    slot.unpaired = part.totals.unpaired;
    std::ranges::copy_if(part.rows, std::back_inserter(slot.table.rows),
                         [](const ipc::HistogramRow& row) { return row.hits != 0; });
  }
  return slots;
}

}  // namespace landtrace::fleet
