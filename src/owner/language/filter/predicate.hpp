// One comparison of an expression, `FIELD OPERATOR VALUE`: as text, and what it says.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "language/filter/cpu_list.hpp"
#include "language/filter/failure.hpp"
#include "language/filter/fields.hpp"
#include "language/filter/functions.hpp"

namespace landtrace::language {

enum class FilterOperator : std::uint8_t { kGlob, kNotEqual, kEqual, kLessEqual, kLess, kGreaterEqual, kGreater, kAnd };

struct FilterNumber {
  std::uint64_t value;  // two's complement for a signed field
};
struct FilterText {
  std::string value;  // between the quotes
};
struct FilterFunctions {
  std::vector<filter::FunctionRange> ranges;
};

struct Predicate {
  FilterField field;
  FilterOperator op;
  std::variant<FilterNumber, FilterText, CpuMask, FilterFunctions> value;
};

// What names in an expression stand for.
struct FilterNames {
  std::span<const event::Field> fields;
  std::uint32_t cpus = 1;                 // CPUS{…} may name those below
  FunctionResolver* functions = nullptr;  // nullptr: no function is found
  // Every field is there, of a type that fits its value, and every function.
  bool any_field = false;
};

// Reads the predicate at `position` of the expression, and moves the position behind it.
FilterResult<Predicate> parse_predicate(std::string_view expression, std::size_t& position, const FilterNames& names);

}  // namespace landtrace::language
