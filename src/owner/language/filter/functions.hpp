// Where a program's functions are, for FIELD.function. A filter is compiled by the owner and evaluated in the
// producers, each of which has its functions elsewhere, so a name stands for a range in each of them.
#pragma once

#include <string_view>
#include <vector>

#include "filter/program.hpp"

namespace landtrace::language {

class FunctionResolver {
 public:
  virtual ~FunctionResolver() = default;

  // The function's range in every process that has it; empty when none does. In any order.
  virtual std::vector<filter::FunctionRange> named(std::string_view name) = 0;
  // The functions that hold the address, in the processes where one does.
  virtual std::vector<filter::FunctionRange> holding(std::uint64_t address) = 0;
};

}  // namespace landtrace::language
