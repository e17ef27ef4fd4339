// The kernel's answer to a filter expression that it refuses: an errno for the writer, a sentence and a position for
// the `filter` file and the error log.
#pragma once

#include <cstdint>
#include <string_view>
#include <tl/expected.hpp>

namespace landtrace::language {

enum class FilterFailureKind : std::uint8_t {
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
std::string_view filter_failure_text(FilterFailureKind kind);

struct FilterFailure {
  int code = 0;  // a positive errno; not only EINVAL
  FilterFailureKind kind = FilterFailureKind::kUnspecified;
  // Characters before the error log's caret. It may be one more than the expression has: the kernel counts the
  // first predicate from 1.
  std::uint32_t position = 0;

  friend bool operator==(const FilterFailure&, const FilterFailure&) = default;
};

template <typename T>
using FilterResult = tl::expected<T, FilterFailure>;

inline tl::unexpected<FilterFailure> refuse_filter(int code, FilterFailureKind kind = FilterFailureKind::kUnspecified,
                                                   std::size_t position = 0) {
  return tl::unexpected<FilterFailure>(FilterFailure{code, kind, static_cast<std::uint32_t>(position)});
}

}  // namespace landtrace::language
