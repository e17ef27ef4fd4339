// What `landtrace list --usdt` prints: the USDT places of programs and libraries, those of one name together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/recipe.hpp"
#include "base/result.hpp"
#include "language/probe/usdt_operand.hpp"

namespace landtrace::cli {

struct UsdtSpot {
  std::uint64_t offset = 0;          // in the file
  std::uint64_t counter_offset = 0;  // of its semaphore; 0: none, or not in the file
  std::string arguments;             // as the note has them
  std::vector<language::UsdtOperand> operands;
  agent::Way way = agent::Way::kRefused;
  agent::Refusal refusal = agent::Refusal::kNone;  // why it cannot be probed

  [[nodiscard]] bool can_be_probed() const { return way != agent::Way::kRefused; }
};

struct UsdtRow {
  std::string object;  // path of the file
  std::string provider;
  std::string name;
  bool has_semaphore = false;
  std::vector<UsdtSpot> spots;
};

// Those of one file, by provider and name. What it says of a file that cannot be read.
Result<std::vector<UsdtRow>> usdt_rows(const std::string& path);

// The type that an argument has in an event: the widest of all places; "" where it cannot be read.
std::vector<std::string> usdt_types(const UsdtRow& row);

// Lines for people, at most `columns` wide.
std::string usdt_head();
std::string usdt_line(const UsdtRow& row, std::size_t columns);
// One object a line.
std::string usdt_json(const UsdtRow& row);

}  // namespace landtrace::cli
