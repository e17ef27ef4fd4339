#include "language/histogram/operators.hpp"

#include "hist/division.hpp"

namespace landtrace::language {
namespace {

HistCut last_of(std::string_view expression, char one, HistOperator op_of_one, char other, HistOperator op_of_other) {
  const std::size_t first = expression.rfind(one);
  const std::size_t second = expression.rfind(other);
  const bool has_first = first != std::string_view::npos;
  const bool has_second = second != std::string_view::npos;
  if (has_first && (!has_second || first > second)) return {op_of_one, first};
  if (has_second) return {op_of_other, second};
  return {};
}

}  // namespace

HistCut cut_of(std::string_view expression) {
  // A minus in front is what the rest is about, unless another minus follows.
  if (expression.rfind('-') == 0) return {HistOperator::kNegate, 0};
  const HistCut sum = last_of(expression, '-', HistOperator::kSubtract, '+', HistOperator::kAdd);
  if (sum.op != HistOperator::kNone) return sum;
  return last_of(expression, '/', HistOperator::kDivide, '*', HistOperator::kMultiply);
}

std::uint64_t combined(HistOperator op, std::uint64_t left, std::uint64_t right) {
  switch (op) {
    case HistOperator::kAdd:
      return left + right;
    case HistOperator::kSubtract:
      return left - right;
    case HistOperator::kMultiply:
      return left * right;
    case HistOperator::kDivide:
      return hist::quotient(left, right, hist::division_factor(right));
    default:
      return left;
  }
}

}  // namespace landtrace::language
