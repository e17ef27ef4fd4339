#include "cli/histogram/view.hpp"

#include <algorithm>
#include <map>

namespace landtrace::cli {
namespace {

Result<void> add_row(const HistShape& shape, const HistRow& row,
                     std::map<std::vector<std::string>, HistGroup>& groups) {
  const std::size_t wanted = 1 + shape.sums.size() + (shape.spread ? 1 : 0);
  if (row.keys.size() != shape.keys.size() + (shape.spread ? 1 : 0) || row.values.size() != wanted) {
    return fail(EINVAL, "a row of the histogram has other keys or values than were asked for");
  }
  const std::vector<std::string> keys(row.keys.begin(), row.keys.begin() + static_cast<long>(shape.keys.size()));
  HistGroup& group = groups[keys];
  group.keys = keys;
  group.count += row.values[0];
  group.sums.resize(shape.sums.size());
  for (std::size_t i = 0; i < shape.sums.size(); ++i) group.sums[i] += row.values[1 + i];
  if (shape.spread) {
    LT_TRY(const unsigned power, power_of(row.keys.back()));
    group.spread.add(power, row.values[0], row.values.back());
  }
  return {};
}

}  // namespace

Result<HistView> make_view(const HistShape& shape, const HistTable& table) {
  std::map<std::vector<std::string>, HistGroup> groups;
  for (const HistRow& row : table.rows) LT_CHECK(add_row(shape, row, groups));
  HistView view{{}, table.hits, table.dropped};
  for (auto& [keys, group] : groups) view.groups.push_back(std::move(group));
  std::stable_sort(view.groups.begin(), view.groups.end(),
                   [](const HistGroup& a, const HistGroup& b) { return a.count > b.count; });
  return view;
}

}  // namespace landtrace::cli
