#include "filter/failure.hpp"

namespace landtrace::filter {

std::string_view failure_text(FailureKind kind) {
  switch (kind) {
    case FailureKind::kUnspecified:
      return "Error";
    case FailureKind::kInvalidOperator:
      return "Invalid operator";
    case FailureKind::kTooManyOpen:
      return "Too many '('";
    case FailureKind::kTooManyClose:
      return "Too few '('";
    case FailureKind::kMissingQuote:
      return "Missing matching quote";
    case FailureKind::kMissingBraceOpen:
      return "Missing '{'";
    case FailureKind::kMissingBraceClose:
      return "Missing '}'";
    case FailureKind::kOperandTooLong:
      return "Operand too long";
    case FailureKind::kExpectString:
      return "Expecting string field";
    case FailureKind::kExpectDigit:
      return "Expecting numeric field";
    case FailureKind::kIllegalFieldOperator:
      return "Illegal operation for field type";
    case FailureKind::kFieldNotFound:
      return "Field not found";
    case FailureKind::kIllegalInteger:
      return "Illegal integer value";
    case FailureKind::kBadSubsystemFilter:
      return "Couldn't find or set field in one of a subsystem's events";
    case FailureKind::kTooManyPredicates:
      return "Too many terms in predicate expression";
    case FailureKind::kInvalidCpuList:
      return "Invalid cpulist";
    case FailureKind::kInvalidValue:
      return "Invalid value (did you forget quotes)?";
    case FailureKind::kNoFunction:
      return "Function not found";
    case FailureKind::kNoFilter:
      return "No filter found";
  }
  return {};
}

}  // namespace landtrace::filter
