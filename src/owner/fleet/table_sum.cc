#include "fleet/table_sum.hpp"

#include <algorithm>

namespace landtrace::fleet {
namespace {

using ipc::HistogramKey;
using ipc::HistogramTable;

void append_key(std::string& name, std::uint64_t number, std::string_view text) {
  const std::uint64_t size = text.size();
  name.append(reinterpret_cast<const char*>(&number), sizeof number);
  name.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

// What an action keeps is no sum: of several the largest one counts.
std::uint64_t together(const ipc::HistogramValue& type, std::uint64_t a, std::uint64_t b) {
  if (!type.is_kept) return a + b;
  const bool a_is_less = type.is_signed ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
  return a_is_less ? b : a;
}

// A row, where it is found by its keys, and both forms of these.
std::size_t bytes_of_row(const ipc::HistogramRow& row, const std::vector<std::string>& group) {
  constexpr std::size_t kRow = 2 * sizeof(ipc::HistogramRow) + 96;
  constexpr std::size_t kKey = sizeof(ipc::HistogramKeyValue) + 32;
  std::size_t bytes = kRow + (group.size() + row.keys.size()) * kKey + row.values.size() * sizeof(std::uint64_t);
  for (const std::string& text : group) bytes += 2 * text.size();
  for (const ipc::HistogramKeyValue& key : row.keys) bytes += 2 * key.text.size();
  return bytes;
}

}  // namespace

std::size_t TableSum::bytes_of(const HistogramTable& table, const std::vector<std::string>& group) {
  std::size_t bytes = 0;
  for (const ipc::HistogramRow& row : table.rows) bytes += bytes_of_row(row, group);
  return bytes;
}

void TableSum::begin(const HistogramTable& shape, const std::vector<std::string>& group_names) {
  for (const std::string& name : group_names) sum_.keys.push_back({ipc::KeyKind::kText, name, 0});
  sum_.keys.insert(sum_.keys.end(), shape.keys.begin(), shape.keys.end());
  sum_.values = shape.values;
  is_begun_ = true;
}

bool TableSum::add(const HistogramTable& table, const std::vector<std::string>& group_names,
                   const std::vector<std::string>& group) {
  if (!is_begun_) begin(table, group_names);
  const auto own_keys = sum_.keys.begin() + static_cast<std::ptrdiff_t>(group.size());
  if (!std::equal(own_keys, sum_.keys.end(), table.keys.begin(), table.keys.end()) || sum_.values != table.values) {
    return false;
  }
  if (sum_.trigger.empty()) sum_.trigger = table.trigger;
  for (const ipc::HistogramRow& row : table.rows) add_row(row, group);
  sum_.hits += table.hits;
  sum_.dropped += table.dropped;
  return true;
}

void TableSum::add_row(const ipc::HistogramRow& row, const std::vector<std::string>& group) {
  name_.clear();
  for (const std::string& text : group) append_key(name_, 0, text);
  for (const ipc::HistogramKeyValue& key : row.keys) append_key(name_, key.number, key.text);
  const auto [found, is_new] = rows_.try_emplace(name_, sum_.rows.size());
  if (is_new) {
    bytes_ += bytes_of_row(row, group);
    ipc::HistogramRow& added = sum_.rows.emplace_back();
    for (const std::string& text : group) added.keys.push_back({0, text, {}});
    added.keys.insert(added.keys.end(), row.keys.begin(), row.keys.end());
    added.hits = row.hits;
    added.values = row.values;
    return;
  }
  ipc::HistogramRow& known = sum_.rows[found->second];
  known.hits += row.hits;
  for (std::size_t i = 0; i < known.values.size(); ++i) {
    known.values[i] = together(sum_.values[i], known.values[i], row.values[i]);
  }
}

}  // namespace landtrace::fleet
