// The attributes of a histogram as they are written behind "hist:". Pure text: what they name need not be there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hist/mistakes.hpp"

namespace landtrace::hist {

inline constexpr std::size_t kMostKeys = 3;
inline constexpr std::size_t kMostValues = 3;  // the hit count is one
inline constexpr std::size_t kMostVariables = 16;
inline constexpr std::size_t kMostActions = 8;
inline constexpr std::size_t kMostSortKeys = 2;
inline constexpr unsigned kMinBits = 7;
inline constexpr unsigned kKernelMaxBits = 17;
inline constexpr unsigned kMaxBits = 20;
inline constexpr unsigned kDefaultBits = 11;

struct Attributes {
  std::string keys;
  std::optional<std::string> values;
  std::optional<std::string> sort;
  std::string name;  // "": it has none
  std::string clock = "global";
  unsigned bits = kDefaultBits;  // of the size
  bool pause = false;
  bool resume = false;
  bool clear = false;
  bool no_hitcount = false;
  std::vector<std::string> assignments;  // "a=1,b=2"
  std::vector<std::string> actions;      // "onmatch(…)…"

  [[nodiscard]] bool only_changes() const { return pause || resume || clear; }
};

// What stands before " if " and behind it.
struct CommandParts {
  std::string definition;
  std::optional<std::string> condition;  // with its "if"
};
// EINVAL where it begins with "if", or nothing is behind that.
Result<CommandParts> split_condition(std::string_view command);

// EINVAL, ERANGE.
Result<Attributes> parse_attributes(std::string_view definition, Complaints& complaints);

struct Definition {
  std::string name;
  std::string expression;
};
// Of the variables. EINVAL.
Result<std::vector<Definition>> definitions_in(const Attributes& attributes, Complaints& complaints);

}  // namespace landtrace::hist
