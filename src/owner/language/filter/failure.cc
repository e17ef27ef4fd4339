#include "language/filter/failure.hpp"

namespace landtrace::language {

std::string_view filter_failure_text(FilterFailureKind kind) {
  switch (kind) {
    case FilterFailureKind::kUnspecified:
      return "Error";
    case FilterFailureKind::kInvalidOperator:
      return "Invalid operator";
    case FilterFailureKind::kTooManyOpen:
      return "Too many '('";
    case FilterFailureKind::kTooManyClose:
      return "Too few '('";
    case FilterFailureKind::kMissingQuote:
      return "Missing matching quote";
    case FilterFailureKind::kMissingBraceOpen:
      return "Missing '{'";
    case FilterFailureKind::kMissingBraceClose:
      return "Missing '}'";
    case FilterFailureKind::kOperandTooLong:
      return "Operand too long";
    case FilterFailureKind::kExpectString:
      return "Expecting string field";
    case FilterFailureKind::kExpectDigit:
      return "Expecting numeric field";
    case FilterFailureKind::kIllegalFieldOperator:
      return "Illegal operation for field type";
    case FilterFailureKind::kFieldNotFound:
      return "Field not found";
    case FilterFailureKind::kIllegalInteger:
      return "Illegal integer value";
    case FilterFailureKind::kBadSubsystemFilter:
      return "Couldn't find or set field in one of a subsystem's events";
    case FilterFailureKind::kTooManyPredicates:
      return "Too many terms in predicate expression";
    case FilterFailureKind::kInvalidCpuList:
      return "Invalid cpulist";
    case FilterFailureKind::kInvalidValue:
      return "Invalid value (did you forget quotes)?";
    case FilterFailureKind::kNoFunction:
      return "Function not found";
    case FilterFailureKind::kNoFilter:
      return "No filter found";
  }
  return {};
}

}  // namespace landtrace::language
