#include "cli/histogram/view.hpp"

#include <algorithm>
#include <map>

namespace landtrace::cli {
namespace {

using Groups = std::map<std::vector<HistKey>, HistGroup>;

constexpr std::uint64_t kMaxPower = 64;

bool is_spread(const ipc::HistogramKey& key) {
  return key.kind == ipc::KeyKind::kLog2 || key.kind == ipc::KeyKind::kSteps;
}

Result<void> check_fit(const HistShape& shape, const ipc::HistogramTable& table) {
  const std::size_t spreads = shape.spread ? 1 : 0;
  const bool fits = table.keys.size() == shape.keys.size() + spreads &&
                    table.values.size() == shape.sums.size() + spreads &&
                    (!shape.spread || is_spread(table.keys.back()));
  return fits ? Result<void>() : fail(EINVAL, "the histogram has other keys or values than were asked for");
}

std::vector<HistKey> keys_of(const HistShape& shape, const ipc::HistogramTable& table, const ipc::HistogramRow& row) {
  std::vector<HistKey> keys;
  for (std::size_t i = 0; i < shape.keys.size(); ++i) keys.push_back(typed_key(table.keys[i], row.keys[i]));
  return keys;
}

Result<void> add_to_spread(const ipc::HistogramTable& table, const ipc::HistogramRow& row,
                           measure::Distribution& spread) {
  const ipc::HistogramKey& key = table.keys.back();
  const std::uint64_t number = row.keys.back().number;
  if (key.kind == ipc::KeyKind::kSteps) {
    spread.add_step(number, key.width, row.hits, row.values.back());
  } else if (number > kMaxPower) {
    return fail(EINVAL, "no power of two");
  } else {
    spread.add(static_cast<unsigned>(number), row.hits, row.values.back());
  }
  if (table.values.back().is_signed) spread.may_be_negative(table.keys.back().signed_bits);
  return {};
}

Result<void> add_row(const HistShape& shape, const ipc::HistogramTable& table, const ipc::HistogramRow& row,
                     Groups& groups) {
  std::vector<HistKey> keys = keys_of(shape, table, row);
  HistGroup& group = groups[keys];
  group.keys = std::move(keys);
  group.count += row.hits;
  group.sums.resize(shape.sums.size());
  for (std::size_t i = 0; i < shape.sums.size(); ++i) group.sums[i] += row.values[i];
  return shape.spread ? add_to_spread(table, row, group.spread) : Result<void>();
}

}  // namespace

Result<HistView> make_view(const HistShape& shape, const ipc::HistogramTable& table) {
  LT_CHECK(check_fit(shape, table));
  Groups groups;
  for (const ipc::HistogramRow& row : table.rows) LT_CHECK(add_row(shape, table, row, groups));
  HistView view{{}, table.hits, table.dropped, {}};
  view.sum_types.assign(table.values.begin(), table.values.begin() + static_cast<std::ptrdiff_t>(shape.sums.size()));
  for (auto& [keys, group] : groups) view.groups.push_back(std::move(group));
  std::stable_sort(view.groups.begin(), view.groups.end(),
                   [](const HistGroup& a, const HistGroup& b) { return a.count > b.count; });
  return view;
}

}  // namespace landtrace::cli
