#include "cli/top/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/histogram/view.hpp"
#include "cli/quantity.hpp"
#include "cli/visible.hpp"
#include "symbols/short_name.hpp"
#include "symbols/symbols.hpp"

namespace landtrace::cli {
namespace {

constexpr unsigned kMostPower = 64;
constexpr double kHalf = 0.5, kNearlyAll = 0.99;

tl::unexpected<Error> other_table() {
  return fail(EINVAL, "the histogram has other keys or values than were asked for");
}

std::string object_name(const TopFunction& function) { return function.path.substr(function.path.rfind('/') + 1); }

std::string name_of(const TopFunction& function) {
  return function.name.empty() ? fmt::format("{:#x}", function.offset) : symbols::demangle(function.name);
}

std::uint64_t weight(const TopRow& row, TopOrder order) {
  switch (order) {
    case TopOrder::kCalls:
      return row.calls;
    case TopOrder::kTotal:
      return row.times.sum();
    case TopOrder::kMean:
      return static_cast<std::uint64_t>(row.times.mean());
    case TopOrder::kMax:
      return row.max_ns;
  }
  return 0;
}

class ViewBuilder {
 public:
  explicit ViewBuilder(const FunctionSet& set) : set_(set) {
    view_.functions = set.functions.size();
    view_.refused = set.refused;
  }

  Result<void> add_calls(const ipc::HistogramTable& table) {
    if (table.keys.size() != 1) return other_table();
    for (const ipc::HistogramRow& row : table.rows) {
      if (TopRow* const known = row_of(row.keys[0].number)) known->calls += row.hits;
    }
    view_.calls = table.hits;
    view_.uncounted = table.dropped;
    return {};
  }

  Result<void> add_times(const ipc::HistogramTable& table) {
    const bool fits = table.keys.size() == 2 && table.keys[1].kind == ipc::KeyKind::kLog2 && table.values.size() == 2;
    if (!fits) return other_table();
    for (const ipc::HistogramRow& row : table.rows) {
      TopRow* const known = row_of(row.keys[0].number);
      const std::uint64_t power = row.keys[1].number;
      if (known == nullptr || power > kMostPower) continue;
      known->times.add(static_cast<unsigned>(power), row.hits, row.values[0]);
      known->max_ns = std::max(known->max_ns, row.values[1]);
    }
    view_.measured = table.hits;
    return {};
  }

  TopView finish(TopOrder order) && {
    for (auto& [id, row] : rows_) {
      // The calls were counted a moment before their times.
      row.calls = std::max(row.calls, row.times.count());
      view_.rows.push_back(std::move(row));
    }
    view_.calls = std::max(view_.calls, view_.measured);
    std::stable_sort(view_.rows.begin(), view_.rows.end(),
                     [order](const TopRow& a, const TopRow& b) { return weight(a, order) > weight(b, order); });
    return std::move(view_);
  }

 private:
  TopRow* row_of(std::uint64_t id) {
    if (id >= set_.functions.size()) return nullptr;
    TopRow& row = rows_[id];
    row.function = &set_.functions[id];
    return &row;
  }

  const FunctionSet& set_;
  std::map<std::uint64_t, TopRow> rows_;
  TopView view_;
};

// Within a power of two a percentile is a guess; it is none of what nothing exceeds.
double percentile(const TopRow& row, double part) {
  return std::min(row.times.percentile(part), static_cast<double>(row.max_ns));
}

std::string calls_text(std::uint64_t count) { return count_text(count) + (count == 1 ? " call" : " calls"); }

std::string time_text(const TopRow& row, double ns) { return row.times.count() == 0 ? "-" : duration_text(ns); }

struct Column {
  const char* head;
  std::string (*text)(const TopRow& row);
  bool on_narrow;
};
constexpr Column kColumns[] = {
    {"calls", [](const TopRow& row) { return count_text(row.calls); }, true},
    {"total", [](const TopRow& row) { return time_text(row, static_cast<double>(row.times.sum())); }, true},
    {"mean", [](const TopRow& row) { return time_text(row, row.times.mean()); }, true},
    {"p50", [](const TopRow& row) { return time_text(row, percentile(row, kHalf)); }, false},
    {"p99", [](const TopRow& row) { return time_text(row, percentile(row, kNearlyAll)); }, false},
    {"max", [](const TopRow& row) { return time_text(row, static_cast<double>(row.max_ns)); }, false},
};

std::string head_text(const TopView& view) {
  std::string text = fmt::format("{} of {} of {} functions", calls_text(view.calls), count_text(view.rows.size()),
                                 count_text(view.functions));
  if (view.refused > 0) text += fmt::format(", {} more cannot be followed", count_text(view.refused));
  return text;
}

std::string foot_text(const TopView& view) {
  std::string text;
  if (view.calls > view.measured) {
    text += fmt::format("without a time, for they have not returned or were missed: {}\n",
                        calls_text(view.calls - view.measured));
  }
  if (view.uncounted > 0) {
    text += fmt::format("not counted, for want of room: {}\n", calls_text(view.uncounted));
  }
  return text;
}

bool is_of_several_objects(const TopView& view) {
  return std::any_of(view.rows.begin(), view.rows.end(),
                     [&](const TopRow& row) { return row.function->path != view.rows.front().function->path; });
}

nlohmann::ordered_json row_json(const TopRow& row) {
  nlohmann::ordered_json json{{"function", name_of(*row.function)},
                              {"object", row.function->path},
                              {"offset", fmt::format("{:#x}", row.function->offset)},
                              {"calls", row.calls},
                              {"measured", row.times.count()}};
  if (row.times.count() == 0) return json;
  json["total_ns"] = row.times.sum();
  json["mean_ns"] = row.times.mean();
  json["p50_ns"] = percentile(row, kHalf);
  json["p99_ns"] = percentile(row, kNearlyAll);
  json["max_ns"] = row.max_ns;
  return json;
}

}  // namespace

Result<TopView> make_top_view(const FunctionSet& set, const ipc::HistogramTable* calls,
                              const ipc::HistogramTable* times, TopOrder order) {
  ViewBuilder builder(set);
  if (calls != nullptr) LT_CHECK(builder.add_calls(*calls));
  if (times != nullptr) LT_CHECK(builder.add_times(*times));
  return std::move(builder).finish(order);
}

std::string top_text(const TopView& view, std::size_t rows, std::size_t columns) {
  constexpr std::size_t kNarrow = 80, kShortestName = 8;
  const std::size_t shown = rows == 0 ? view.rows.size() : std::min(rows, view.rows.size());
  const bool names_objects = is_of_several_objects(view);
  std::vector<std::string> lines(shown + 1);
  for (const Column& column : kColumns) {
    if (columns < kNarrow && !column.on_narrow) continue;
    std::vector<std::string> cells{column.head};
    std::size_t width = std::string_view(column.head).size();
    for (std::size_t i = 0; i < shown; ++i) {
      width = std::max(width, cells.emplace_back(column.text(view.rows[i])).size());
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      lines[i] += fmt::format("{}{:>{}}", lines[i].empty() ? "" : "  ", cells[i], width);
    }
  }
  lines[0] += "  function";
  const std::size_t used = lines[0].size() - std::string_view("function").size();
  const std::size_t room =
      columns == Screen::kAny ? columns : std::max(columns - std::min(columns, used), kShortestName);
  for (std::size_t i = 0; i < shown; ++i) {
    const TopFunction& function = *view.rows[i].function;
    std::string name = symbols::short_name(name_of(function));
    if (names_objects) name = object_name(function) + ":" + name;
    lines[i + 1] += "  " + shortened(visible(name, Lines::kNone), room);
  }
  if (shown == 0) lines.clear();
  std::string text = fmt::format("{}\n{}{}", head_text(view), fmt::join(lines, "\n"), shown == 0 ? "" : "\n");
  if (shown < view.rows.size()) text += fmt::format("and {} more\n", count_text(view.rows.size() - shown));
  return text + foot_text(view);
}

std::string top_json(const TopView& view, std::size_t rows) {
  nlohmann::ordered_json json{{"calls", view.calls},         {"measured", view.measured},
                              {"uncounted", view.uncounted}, {"watched", view.functions},
                              {"refused", view.refused},     {"functions", nlohmann::ordered_json::array()}};
  const std::size_t shown = rows == 0 ? view.rows.size() : std::min(rows, view.rows.size());
  for (std::size_t i = 0; i < shown; ++i) json["functions"].push_back(row_json(view.rows[i]));
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace landtrace::cli
