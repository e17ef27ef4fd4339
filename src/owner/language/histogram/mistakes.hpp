// The mistakes in a histogram's command that the kernel's error_log names, and where it says they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace landtrace::language {

enum class HistMistake : std::uint8_t {
  kDuplicateVariable,
  kVariableNotUnique,
  kTooManyVariables,
  kMalformedAssignment,
  kNamedMismatch,
  kExists,
  kNothingToClear,
  kClock,
  kFieldModifier,
  kTooManySubexpressions,
  kTimestampMismatch,
  kTooManyFieldVariables,
  kEventFileNotFound,
  kHistogramNotFound,
  kHistogramForField,
  kSyntheticVariableNotFound,
  kSyntheticEventNotFound,
  kParamType,
  kParamCount,
  kFieldVariableParse,
  kVariableCreateOrFind,
  kTrackedIsNoVariable,
  kTrackedNotFound,
  kTrackedCreate,
  kFieldVariableCreate,
  kTooManyParams,
  kParamNotFound,
  kInvalidParam,
  kActionNotFound,
  kNoSaveParams,
  kTooManySaves,
  kActionMismatch,
  kNoClosingParen,
  kSubsystemMissing,
  kInvalidEvent,
  kReferenceInKey,
  kVariableNotFound,
  kFieldNotFound,
  kEmptyAssignment,
  kSortModifier,
  kEmptySortField,
  kTooManySortFields,
  kInvalidSortField,
  kTextOperand,
  kNumberExpected,
  kUnaryMinus,
  kDivisionByZero,
  kValueNeeded,
};

// The kernel's sentence.
std::string_view sentence_of(HistMistake mistake);

struct HistComplaint {
  HistMistake mistake;
  std::size_t position;  // of the caret below the command
};

// All complaints about one command, in order. One mistake may lead to several, and some commands are taken in spite of
// them.
class HistComplaints {
 public:
  // About this command, as the log shows it, from here on.
  void begin(std::string command) {
    command_ = std::move(command);
    all_.clear();
  }

  // As in the kernel the caret is below the first place that reads like `part`, wherever the mistake is.
  void add(HistMistake mistake, std::string_view part = {});
  // The same, and the error to return.
  tl::unexpected<Error> refuse(HistMistake mistake, std::string_view part = {}, int code = EINVAL);

  [[nodiscard]] const std::string& command() const { return command_; }
  [[nodiscard]] const std::vector<HistComplaint>& all() const { return all_; }

 private:
  std::string command_;
  std::vector<HistComplaint> all_;
};

}  // namespace landtrace::language
