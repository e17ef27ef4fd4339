#include "cli/histogram/view.hpp"

#include <algorithm>
#include <map>

#include "base/input.hpp"
#include "rules/histograms/keys_text.hpp"

namespace landtrace::cli {
namespace {

using Groups = std::map<std::vector<std::string>, HistGroup>;

constexpr std::uint64_t kMaxPower = 64;

Result<void> check_fit(const HistShape& shape, const ipc::HistogramTable& table) {
  const std::size_t spreads = shape.spread ? 1 : 0;
  const bool fits = table.keys.size() == shape.keys.size() + spreads &&
                    table.values.size() == shape.sums.size() + spreads &&
                    (!shape.spread || table.keys.back().kind == ipc::KeyKind::kLog2);
  return fits ? Result<void>() : fail(EINVAL, "the histogram has other keys or values than were asked for");
}

// As the hist file shows them, without its padding.
std::vector<std::string> key_texts(const HistShape& shape, const ipc::HistogramTable& table,
                                   const ipc::HistogramRow& row) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < shape.keys.size(); ++i) {
    texts.emplace_back(trimmed(rules::value_text(table.keys[i], row.keys[i])));
  }
  return texts;
}

Result<void> add_row(const HistShape& shape, const ipc::HistogramTable& table, const ipc::HistogramRow& row,
                     Groups& groups) {
  std::vector<std::string> keys = key_texts(shape, table, row);
  HistGroup& group = groups[keys];
  group.keys = std::move(keys);
  group.count += row.hits;
  group.sums.resize(shape.sums.size());
  for (std::size_t i = 0; i < shape.sums.size(); ++i) group.sums[i] += row.values[i];
  if (shape.spread) {
    const std::uint64_t power = row.keys.back().number;
    if (power > kMaxPower) return fail(EINVAL, "no power of two");
    group.spread.add(static_cast<unsigned>(power), row.hits, row.values.back());
  }
  return {};
}

}  // namespace

Result<HistView> make_view(const HistShape& shape, const ipc::HistogramTable& table) {
  LT_CHECK(check_fit(shape, table));
  Groups groups;
  for (const ipc::HistogramRow& row : table.rows) LT_CHECK(add_row(shape, table, row, groups));
  HistView view{{}, table.hits, table.dropped, {}};
  for (auto& [keys, group] : groups) view.groups.push_back(std::move(group));
  std::stable_sort(view.groups.begin(), view.groups.end(),
                   [](const HistGroup& a, const HistGroup& b) { return a.count > b.count; });
  return view;
}

}  // namespace landtrace::cli
