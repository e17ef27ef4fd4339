// A filter expression as text: what a write means, what the `filter` file reads back, what the error log gets.
#pragma once

#include <string>
#include <string_view>

#include "language/filter/failure.hpp"

namespace landtrace::language {

// Longest expression in bytes. A longer write to a `filter` file is EINVAL and changes nothing.
inline constexpr std::size_t kMaxFilter = 4095;

// What was written to a `filter` file.
struct WrittenFilter {
  bool clears = false;     // just "0"
  std::string expression;  // without what follows a NUL, and without spaces at the end
};
WrittenFilter read_written_filter(std::string_view bytes);

// Contents of the `filter` file. An empty expression after a clear is "none".
std::string no_filter_text();
std::string filter_text(std::string_view expression);
// With a caret and a sentence below the expression. Ends in an empty line, as in the kernel.
std::string failed_filter_text(std::string_view expression, const FilterFailure& failure);

// For every event that a subsystem's filter does not fit, whatever the reason.
inline constexpr FilterFailure kBadSubsystemFilter{22, FilterFailureKind::kBadSubsystemFilter, 0};
// What a subsystem's own `filter` file says, always.
std::string subsystem_filter_text();

// The parts of an entry in the error log; its command is the expression.
inline constexpr std::string_view kFilterErrorLocation = "event filter parse error";
struct FilterErrorParts {
  std::string_view message;
  std::uint32_t caret;  // characters of the expression before the caret
};
FilterErrorParts filter_error_parts(const FilterFailure& failure);
// How many characters of the expression stand before the mistake. In a predicate the error log's caret stands one
// behind it. An unknown field's place is behind its name: there the kernel has looked for it.
std::size_t index_of_mistake(const FilterFailure& failure, std::string_view expression);
// The same for people: an unknown field's place is where its name begins.
std::size_t begin_of_mistake(const FilterFailure& failure, std::string_view expression);

}  // namespace landtrace::language
