// One comparison of an expression, `FIELD OPERATOR VALUE`: as text, and what it says.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "filter/cpu_list.hpp"
#include "filter/failure.hpp"
#include "filter/fields.hpp"
#include "filter/functions.hpp"

namespace landtrace::filter {

enum class Operator : std::uint8_t { kGlob, kNotEqual, kEqual, kLessEqual, kLess, kGreaterEqual, kGreater, kAnd };

struct Number {
  std::uint64_t value;  // two's complement for a signed field
};
struct Text {
  std::string value;  // between the quotes
};
struct Functions {
  std::vector<FunctionRange> ranges;
};

struct Predicate {
  FieldView field;
  Operator op;
  std::variant<Number, Text, CpuMask, Functions> value;
};

// What names in an expression stand for.
struct Names {
  std::span<const event::Field> fields;
  std::uint32_t cpus = 1;                 // CPUS{…} may name those below
  FunctionResolver* functions = nullptr;  // nullptr: no function is found
  bool any_field = false;                 // every field is there, of a type that fits its value, and every function
};

// Reads the predicate at `position` of the expression, and moves the position behind it.
Parsed<Predicate> parse_predicate(std::string_view expression, std::size_t& position, const Names& names);

}  // namespace landtrace::filter
