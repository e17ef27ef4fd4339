#include "measure/pairs.hpp"

#include <algorithm>
#include <bit>

namespace landtrace::measure {
namespace {

// Texts have no NUL.
std::string row_name(const std::vector<ipc::HistogramKeyValue>& keys) {
  std::string name;
  for (const ipc::HistogramKeyValue& key : keys) {
    name.append(std::to_string(key.number)).append(1, '\0').append(key.text).append(1, '\0');
  }
  return name;
}

}  // namespace

std::uint64_t Pairs::step_of(std::uint64_t ns) {
  const std::uint64_t width = std::max<std::uint64_t>(std::bit_floor(ns) / kSteps, 1);
  return ns / width * width;
}

void Pairs::start(std::string key, std::uint64_t time_ns) {
  if (const auto earlier = waiting_.find(key); earlier != waiting_.end()) {
    ++given_up_;
    earlier->second.time_ns = time_ns;
    order_.splice(order_.end(), order_, earlier->second.place);
    return;
  }
  if (waiting_.size() >= limits_.waiting) {
    ++given_up_;
    waiting_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(key);
  waiting_.emplace(std::move(key), Start{time_ns, std::prev(order_.end())});
}

std::optional<std::uint64_t> Pairs::end(const std::string& key, std::uint64_t time_ns,
                                        std::vector<ipc::HistogramKeyValue> by) {
  const auto start = waiting_.find(key);
  if (start == waiting_.end()) {
    ++ends_without_start_;
    return std::nullopt;
  }
  const std::uint64_t ns = time_ns - start->second.time_ns;
  order_.erase(start->second.place);
  waiting_.erase(start);
  count(ns, std::move(by));
  return ns;
}

// As many rows as there would be without steps: they are for groups.
bool Pairs::has_room(const std::vector<ipc::HistogramKeyValue>& by, std::uint64_t ns) {
  std::string name = row_name(by) + std::to_string(std::bit_width(ns));
  return powers_.contains(name) || (powers_.size() < limits_.rows && powers_.insert(std::move(name)).second);
}

void Pairs::count(std::uint64_t ns, std::vector<ipc::HistogramKeyValue> by) {
  const bool fits = has_room(by, ns);
  by.push_back({.number = step_of(ns), .text = {}, .frames = {}});
  std::string name = row_name(by);
  auto row = rows_.find(name);
  if (row == rows_.end()) {
    if (!fits) {
      ++dropped_;
      return;
    }
    row = rows_.emplace(std::move(name), ipc::HistogramRow{std::move(by), 0, {0}}).first;
  }
  ++hits_;
  ++row->second.hits;
  row->second.values[0] += ns;
}

ipc::HistogramTable Pairs::table(const std::vector<ipc::HistogramKey>& by, const std::string& name) const {
  ipc::HistogramTable table;
  table.keys = by;
  table.keys.push_back({ipc::KeyKind::kSteps, name, kSteps});
  table.values = {{name, false}};
  for (const auto& [row_name, row] : rows_) table.rows.push_back(row);
  table.hits = hits_;
  table.dropped = dropped_;
  return table;
}

}  // namespace landtrace::measure
