#include "hist/mistakes.hpp"

namespace landtrace::hist {

std::string_view sentence_of(Mistake mistake) {
  switch (mistake) {
    case Mistake::kDuplicateVariable:
      return "Variable already defined";
    case Mistake::kVariableNotUnique:
      return "Variable name not unique, need to use fully qualified name (subsys.event.var) for variable";
    case Mistake::kTooManyVariables:
      return "Too many variables defined";
    case Mistake::kMalformedAssignment:
      return "Malformed assignment";
    case Mistake::kNamedMismatch:
      return "Named hist trigger doesn't match existing named trigger (includes variables)";
    case Mistake::kExists:
      return "Hist trigger already exists";
    case Mistake::kNothingToClear:
      return "Can't clear or continue a nonexistent hist trigger";
    case Mistake::kClock:
      return "Couldn't set trace_clock";
    case Mistake::kFieldModifier:
      return "Invalid field modifier";
    case Mistake::kTooManySubexpressions:
      return "Too many subexpressions (3 max)";
    case Mistake::kTimestampMismatch:
      return "Timestamp units in expression don't match";
    case Mistake::kTooManyFieldVariables:
      return "Too many field variables defined";
    case Mistake::kEventFileNotFound:
      return "Event file not found";
    case Mistake::kHistogramNotFound:
      return "Matching event histogram not found";
    case Mistake::kHistogramForField:
      return "Couldn't create histogram for field";
    case Mistake::kSyntheticVariableNotFound:
      return "Couldn't find synthetic variable";
    case Mistake::kSyntheticEventNotFound:
      return "Couldn't find synthetic event";
    case Mistake::kParamType:
      return "Param type doesn't match synthetic event field type";
    case Mistake::kParamCount:
      return "Param count doesn't match synthetic event field count";
    case Mistake::kFieldVariableParse:
      return "Couldn't parse field variable";
    case Mistake::kVariableCreateOrFind:
      return "Couldn't create or find variable";
    case Mistake::kTrackedIsNoVariable:
      return "For onmax(x) or onchange(x), x must be a variable";
    case Mistake::kTrackedNotFound:
      return "Couldn't find onmax or onchange variable";
    case Mistake::kTrackedCreate:
      return "Couldn't create onmax or onchange variable";
    case Mistake::kFieldVariableCreate:
      return "Couldn't create field variable";
    case Mistake::kTooManyParams:
      return "Too many action params";
    case Mistake::kParamNotFound:
      return "Couldn't find param";
    case Mistake::kInvalidParam:
      return "Invalid action param";
    case Mistake::kActionNotFound:
      return "No action found";
    case Mistake::kNoSaveParams:
      return "No params found for save()";
    case Mistake::kTooManySaves:
      return "Can't have more than one save() action per hist";
    case Mistake::kActionMismatch:
      return "Handler doesn't support action";
    case Mistake::kNoClosingParen:
      return "No closing paren found";
    case Mistake::kSubsystemMissing:
      return "Missing subsystem";
    case Mistake::kInvalidEvent:
      return "Invalid subsystem or event name";
    case Mistake::kReferenceInKey:
      return "Using variable references in keys not supported";
    case Mistake::kVariableNotFound:
      return "Couldn't find variable";
    case Mistake::kFieldNotFound:
      return "Couldn't find field";
    case Mistake::kEmptyAssignment:
      return "Empty assignment";
    case Mistake::kSortModifier:
      return "Invalid sort modifier";
    case Mistake::kEmptySortField:
      return "Empty sort field";
    case Mistake::kTooManySortFields:
      return "Too many sort fields (Max = 2)";
    case Mistake::kInvalidSortField:
      return "Sort field must be a key or a val";
    case Mistake::kTextOperand:
      return "String type can not be an operand in expression";
    case Mistake::kNumberExpected:
      return "Expecting numeric literal";
    case Mistake::kUnaryMinus:
      return "Unary minus not supported in sub-expressions";
    case Mistake::kDivisionByZero:
      return "Division by zero";
    case Mistake::kValueNeeded:
      break;
  }
  return "Non-hitcount value is required for 'nohitcount'";
}

void Complaints::add(Mistake mistake, std::string_view part) {
  const std::size_t found = command_.find(part);
  all_.push_back({mistake, found == std::string::npos ? 0 : found});
}

tl::unexpected<Error> Complaints::refuse(Mistake mistake, std::string_view part, int code) {
  add(mistake, part);
  return fail(code, std::string(sentence_of(mistake)));
}

}  // namespace landtrace::hist
