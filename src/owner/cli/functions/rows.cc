#include "cli/functions/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "code/glob.hpp"

namespace landtrace::cli {
namespace {

// As a definition names it.
std::string name_of(const code::Analysis& analysis, std::uint64_t offset) {
  const code::Function* const function = analysis.function_at(offset);
  const auto names = function == nullptr ? std::span<const std::string_view>() : analysis.names(*function);
  return names.empty() ? fmt::format("{:#x}", offset) : std::string(names.front());
}

FunctionRow row_of(code::Analysis& analysis, const code::Function& function) {
  FunctionRow row;
  row.offset = analysis.offset_of(function);
  row.size = function.end - function.begin;
  row.is_chooser = function.is_chooser;
  if (function.is_chooser) {
    for (const std::uint64_t choice : analysis.choices(function)) row.choices.push_back(name_of(analysis, choice));
  }
  const agent::Recipe recipe = analysis.recipe(row.offset);
  row.way = recipe.way;
  if (!row.has_entry()) row.entry_refusal = recipe.refusal;
  row.return_refusal = row.has_entry() ? recipe.refusal : analysis.return_refusal(row.offset);
  return row;
}

}  // namespace

std::vector<FunctionRow> function_rows(code::Analysis& analysis, const std::string& glob) {
  std::vector<FunctionRow> rows;
  const auto add = [&](const code::Function& function, std::string_view name) {
    FunctionRow& row = rows.emplace_back(row_of(analysis, function));
    row.name = name;
    for (const std::string_view other : analysis.names(function)) {
      if (other != name) row.aliases.emplace_back(other);
    }
  };
  if (glob.empty()) {
    for (const code::Function& function : analysis.functions()) {
      const auto names = analysis.names(function);
      if (!function.is_part) add(function, names.empty() ? std::string_view() : names.front());
    }
  } else {
    for (const code::Matched& one : code::matching(analysis.named(), glob)) add(*one.function, one.name);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const FunctionRow& a, const FunctionRow& b) {
    return std::pair(a.name.empty(), std::string_view(a.name)) < std::pair(b.name.empty(), std::string_view(b.name));
  });
  return rows;
}

FunctionCounts counts_of(const std::vector<FunctionRow>& rows) {
  FunctionCounts counts;
  counts.functions = rows.size();
  for (const FunctionRow& row : rows) {
    if (!row.has_entry()) {
      ++counts.entry_refusals[row.entry_refusal];
      continue;
    }
    ++counts.entries;
    ++counts.ways[row.way];
    if (row.has_return()) {
      ++counts.returns;
    } else {
      ++counts.return_refusals[row.return_refusal];
    }
  }
  return counts;
}

}  // namespace landtrace::cli
