#include "hist/operators.hpp"

namespace landtrace::hist {
namespace {

Cut last_of(std::string_view expression, char one, Operator op_of_one, char other, Operator op_of_other) {
  const std::size_t first = expression.rfind(one);
  const std::size_t second = expression.rfind(other);
  const bool has_first = first != std::string_view::npos;
  const bool has_second = second != std::string_view::npos;
  if (has_first && (!has_second || first > second)) return {op_of_one, first};
  if (has_second) return {op_of_other, second};
  return {};
}

}  // namespace

Cut cut_of(std::string_view expression) {
  // A minus in front is what the rest is about, unless another minus follows.
  if (expression.rfind('-') == 0) return {Operator::kNegate, 0};
  const Cut sum = last_of(expression, '-', Operator::kSubtract, '+', Operator::kAdd);
  if (sum.op != Operator::kNone) return sum;
  return last_of(expression, '/', Operator::kDivide, '*', Operator::kMultiply);
}

std::uint64_t combined(Operator op, std::uint64_t left, std::uint64_t right) {
  switch (op) {
    case Operator::kAdd:
      return left + right;
    case Operator::kSubtract:
      return left - right;
    case Operator::kMultiply:
      return left * right;
    case Operator::kDivide:
      return right == 0 ? ~std::uint64_t{0} : left / right;
    default:
      return left;
  }
}

}  // namespace landtrace::hist
