// The attributes of a histogram as they are written behind "hist:". Pure text: what they name need not be there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "language/histogram/mistakes.hpp"

namespace landtrace::language {

inline constexpr std::size_t kMostHistKeys = 3;
inline constexpr std::size_t kMostHistValues = 3;  // the hit count is one
inline constexpr std::size_t kMostHistVariables = 16;
inline constexpr std::size_t kMostHistActions = 8;
inline constexpr std::size_t kMostHistSortKeys = 2;
inline constexpr unsigned kMinHistBits = 7;
inline constexpr unsigned kKernelMaxHistBits = 17;
inline constexpr unsigned kMaxHistBits = 20;
inline constexpr unsigned kDefaultHistBits = 11;

struct HistAttributes {
  std::string keys;
  std::optional<std::string> values;
  std::optional<std::string> sort;
  std::string name;  // "": no name
  std::string clock = "global";
  unsigned bits = kDefaultHistBits;  // of the size
  bool pause = false;
  bool resume = false;
  bool clear = false;
  bool no_hitcount = false;
  std::vector<std::string> assignments;  // "a=1,b=2"
  std::vector<std::string> actions;      // "onmatch(…)…"

  [[nodiscard]] bool only_changes() const { return pause || resume || clear; }
};

// The command, cut at " if ".
struct HistCommandParts {
  std::string definition;
  std::optional<std::string> condition;  // with its "if"
};
// EINVAL if it begins with "if", or ends with it.
Result<HistCommandParts> split_condition(std::string_view command);

// EINVAL, ERANGE.
Result<HistAttributes> parse_hist_attributes(std::string_view definition, HistComplaints& complaints);

struct VariableDefinition {
  std::string name;
  std::string expression;
};
// Of the variables. EINVAL.
Result<std::vector<VariableDefinition>> definitions_in(const HistAttributes& attributes, HistComplaints& complaints);

}  // namespace landtrace::language
