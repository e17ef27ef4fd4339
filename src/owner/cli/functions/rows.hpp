// What `landtrace functions` prints: the functions of a file, and how each can be probed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "code/analysis.hpp"
#include "dwarf/answer.hpp"

namespace landtrace::cli {

struct FunctionRow {
  std::string name;                  // the one that was asked for, or the most public; "" where nobody knows any
  std::vector<std::string> aliases;  // its other names
  std::uint64_t offset = 0;          // in the file
  std::uint64_t size = 0;
  std::string object = {};  // its file, where several are listed
  bool is_chooser = false;
  std::vector<std::string> choices;  // what it may choose
  agent::Way way = agent::Way::kRefused;
  agent::Refusal entry_refusal = agent::Refusal::kNone;
  agent::Refusal return_refusal = agent::Refusal::kNone;  // also where the entry is refused
  std::optional<dwarf::DescribedFunction> source = {};    // what debugging information says

  [[nodiscard]] bool has_entry() const { return way != agent::Way::kRefused; }
  [[nodiscard]] bool has_return() const { return has_entry() && return_refusal == agent::Refusal::kNone; }
};

// By name; those without come last. With a `glob` only those of which a name matches it, as linkers or as C++ have it.
std::vector<FunctionRow> function_rows(code::Analysis& analysis, const std::string& glob);

// Adds what debugging information says of each. A sentence if there is none.
Result<void> add_sources(std::vector<FunctionRow>& rows, const std::string& path);

// How many of them there are, by what can be done with them.
struct FunctionCounts {
  std::size_t functions = 0;
  std::size_t entries = 0;
  std::size_t returns = 0;
  std::map<agent::Way, std::size_t> ways;
  std::map<agent::Refusal, std::size_t> entry_refusals;
  std::map<agent::Refusal, std::size_t> return_refusals;  // of those whose entry can be probed
};
FunctionCounts counts_of(const std::vector<FunctionRow>& rows);

// Lines for people, at most `columns` wide. With `reasons`, why not stands behind the name.
std::string functions_head();
std::string function_line(const FunctionRow& row, bool reasons, std::size_t columns);
std::string counts_text(const std::string& path, const FunctionCounts& counts);

// One object a line.
std::string function_json(const FunctionRow& row);
std::string counts_json(const std::string& path, const std::string& build_id, const FunctionCounts& counts);

}  // namespace landtrace::cli
