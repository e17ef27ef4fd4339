// What a refused filter expression is answered with, as the kernel answers: an errno for the writer, a sentence and a
// position for the `filter` file and the error log.
#pragma once

#include <cstdint>
#include <string_view>
#include <tl/expected.hpp>

namespace landtrace::filter {

enum class FailureKind : std::uint8_t {
  kUnspecified,  // refused without a word: the `filter` file says "Error: (0)"
  kInvalidOperator,
  kTooManyOpen,
  kTooManyClose,
  kMissingQuote,
  kMissingBraceOpen,
  kMissingBraceClose,
  kOperandTooLong,
  kExpectString,
  kExpectDigit,
  kIllegalFieldOperator,
  kFieldNotFound,
  kIllegalInteger,
  kBadSubsystemFilter,
  kTooManyPredicates,
  kInvalidCpuList,
  kInvalidValue,
  kNoFunction,
  kNoFilter,
};

// The kernel's sentence, as the error log shows it.
std::string_view failure_text(FailureKind kind);

struct Failure {
  int code = 0;  // a positive errno; not only EINVAL
  FailureKind kind = FailureKind::kUnspecified;
  // Characters before the error log's caret. It may be one more than the expression has: the kernel counts the
  // first predicate from 1.
  std::uint32_t position = 0;

  friend bool operator==(const Failure&, const Failure&) = default;
};

template <typename T>
using Parsed = tl::expected<T, Failure>;

inline tl::unexpected<Failure> refuse(int code, FailureKind kind = FailureKind::kUnspecified,
                                      std::size_t position = 0) {
  return tl::unexpected<Failure>(Failure{code, kind, static_cast<std::uint32_t>(position)});
}

}  // namespace landtrace::filter
