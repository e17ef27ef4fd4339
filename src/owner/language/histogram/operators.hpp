// Where an expression on fields and variables is cut in two: * and / bind more tightly than + and -, and all of them go
// from left to right. There are no parentheses but those of a minus sign in front: -(…).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace landtrace::language {

enum class HistOperator : std::uint8_t { kNone, kNegate, kSubtract, kAdd, kDivide, kMultiply };

constexpr char sign_of(HistOperator op) {
  switch (op) {
    case HistOperator::kAdd:
      return '+';
    case HistOperator::kDivide:
      return '/';
    case HistOperator::kMultiply:
      return '*';
    default:
      return '-';
  }
}

struct HistCut {
  HistOperator op = HistOperator::kNone;
  std::size_t at = 0;  // of the operator
};
HistCut cut_of(std::string_view expression);

// Of two constants; `op` has two operands. Divided as in hist/division.hpp.
std::uint64_t combined(HistOperator op, std::uint64_t left, std::uint64_t right);

}  // namespace landtrace::language
