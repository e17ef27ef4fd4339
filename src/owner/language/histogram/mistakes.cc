#include "language/histogram/mistakes.hpp"

namespace landtrace::language {

std::string_view sentence_of(HistMistake mistake) {
  switch (mistake) {
    case HistMistake::kDuplicateVariable:
      return "Variable already defined";
    case HistMistake::kVariableNotUnique:
      return "Variable name not unique, need to use fully qualified name (subsys.event.var) for variable";
    case HistMistake::kTooManyVariables:
      return "Too many variables defined";
    case HistMistake::kMalformedAssignment:
      return "Malformed assignment";
    case HistMistake::kNamedMismatch:
      return "Named hist trigger doesn't match existing named trigger (includes variables)";
    case HistMistake::kExists:
      return "Hist trigger already exists";
    case HistMistake::kNothingToClear:
      return "Can't clear or continue a nonexistent hist trigger";
    case HistMistake::kClock:
      return "Couldn't set trace_clock";
    case HistMistake::kFieldModifier:
      return "Invalid field modifier";
    case HistMistake::kTooManySubexpressions:
      return "Too many subexpressions (3 max)";
    case HistMistake::kTimestampMismatch:
      return "Timestamp units in expression don't match";
    case HistMistake::kTooManyFieldVariables:
      return "Too many field variables defined";
    case HistMistake::kEventFileNotFound:
      return "Event file not found";
    case HistMistake::kHistogramNotFound:
      return "Matching event histogram not found";
    case HistMistake::kHistogramForField:
      return "Couldn't create histogram for field";
    case HistMistake::kSyntheticVariableNotFound:
      return "Couldn't find synthetic variable";
    case HistMistake::kSyntheticEventNotFound:
      return "Couldn't find synthetic event";
    case HistMistake::kParamType:
      return "Param type doesn't match synthetic event field type";
    case HistMistake::kParamCount:
      return "Param count doesn't match synthetic event field count";
    case HistMistake::kFieldVariableParse:
      return "Couldn't parse field variable";
    case HistMistake::kVariableCreateOrFind:
      return "Couldn't create or find variable";
    case HistMistake::kTrackedIsNoVariable:
      return "For onmax(x) or onchange(x), x must be a variable";
    case HistMistake::kTrackedNotFound:
      return "Couldn't find onmax or onchange variable";
    case HistMistake::kTrackedCreate:
      return "Couldn't create onmax or onchange variable";
    case HistMistake::kFieldVariableCreate:
      return "Couldn't create field variable";
    case HistMistake::kTooManyParams:
      return "Too many action params";
    case HistMistake::kParamNotFound:
      return "Couldn't find param";
    case HistMistake::kInvalidParam:
      return "Invalid action param";
    case HistMistake::kActionNotFound:
      return "No action found";
    case HistMistake::kNoSaveParams:
      return "No params found for save()";
    case HistMistake::kTooManySaves:
      return "Can't have more than one save() action per hist";
    case HistMistake::kActionMismatch:
      return "Handler doesn't support action";
    case HistMistake::kNoClosingParen:
      return "No closing paren found";
    case HistMistake::kSubsystemMissing:
      return "Missing subsystem";
    case HistMistake::kInvalidEvent:
      return "Invalid subsystem or event name";
    case HistMistake::kReferenceInKey:
      return "Using variable references in keys not supported";
    case HistMistake::kVariableNotFound:
      return "Couldn't find variable";
    case HistMistake::kFieldNotFound:
      return "Couldn't find field";
    case HistMistake::kEmptyAssignment:
      return "Empty assignment";
    case HistMistake::kSortModifier:
      return "Invalid sort modifier";
    case HistMistake::kEmptySortField:
      return "Empty sort field";
    case HistMistake::kTooManySortFields:
      return "Too many sort fields (Max = 2)";
    case HistMistake::kInvalidSortField:
      return "Sort field must be a key or a val";
    case HistMistake::kTextOperand:
      return "String type can not be an operand in expression";
    case HistMistake::kNumberExpected:
      return "Expecting numeric literal";
    case HistMistake::kUnaryMinus:
      return "Unary minus not supported in sub-expressions";
    case HistMistake::kDivisionByZero:
      return "Division by zero";
    case HistMistake::kValueNeeded:
      break;
  }
  return "Non-hitcount value is required for 'nohitcount'";
}

void HistComplaints::add(HistMistake mistake, std::string_view part) {
  const std::size_t found = command_.find(part);
  all_.push_back({mistake, found == std::string::npos ? 0 : found});
}

tl::unexpected<Error> HistComplaints::refuse(HistMistake mistake, std::string_view part, int code) {
  add(mistake, part);
  return fail(code, std::string(sentence_of(mistake)));
}

}  // namespace landtrace::language
