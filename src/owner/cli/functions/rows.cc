#include "cli/functions/rows.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "symbols/symbols.hpp"

namespace landtrace::cli {
namespace {

bool matches(const std::string& glob, const std::string& name) { return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0; }

// As it is written in C++, without parameters too.
bool matches_as_cpp(const std::string& glob, const std::string& name) {
  if (!name.starts_with("_Z")) return false;
  const std::string whole = symbols::demangle(name);
  return matches(glob, whole) || matches(glob, whole.substr(0, whole.find('(')));
}

bool is_asked_for(const std::string& glob, const std::string& name) {
  return matches(glob, name) || matches(glob, name.substr(0, name.find('@'))) || matches_as_cpp(glob, name);
}

FunctionRow row_of(code::Analysis& analysis, const code::Function& function) {
  FunctionRow row;
  row.offset = analysis.offset_of(function);
  row.size = function.end - function.begin;
  row.is_chooser = function.is_chooser;
  const agent::Recipe recipe = analysis.recipe(row.offset);
  row.way = recipe.way;
  if (!row.has_entry()) row.entry_refusal = recipe.refusal;
  row.return_refusal = row.has_entry() ? recipe.refusal : analysis.return_refusal(row.offset);
  return row;
}

}  // namespace

std::vector<FunctionRow> function_rows(code::Analysis& analysis, const std::string& glob) {
  std::vector<FunctionRow> rows;
  for (const code::Function& function : analysis.functions()) {
    if (function.is_part) continue;
    std::vector<std::string> names;
    for (const std::string_view name : analysis.names(function)) names.emplace_back(name);
    if (!glob.empty()) {
      const auto asked =
          std::find_if(names.begin(), names.end(), [&](const std::string& name) { return is_asked_for(glob, name); });
      if (asked == names.end()) continue;
      std::rotate(names.begin(), asked, asked + 1);
    }
    FunctionRow row = row_of(analysis, function);
    if (!names.empty()) {
      row.name = names.front();
      row.aliases.assign(names.begin() + 1, names.end());
    }
    rows.push_back(std::move(row));
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
