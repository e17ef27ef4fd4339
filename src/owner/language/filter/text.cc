#include "language/filter/text.hpp"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

#include "language/words.hpp"

namespace landtrace::language {

static_assert(kBadSubsystemFilter.code == EINVAL);

WrittenFilter read_written_filter(std::string_view bytes) {
  bytes = until_nul(bytes);
  while (!bytes.empty() && is_space(bytes.back())) bytes.remove_suffix(1);
  const bool clears = skip_spaces(bytes) == "0";
  return {clears, clears ? std::string() : std::string(bytes)};
}

std::string no_filter_text() { return "none\n"; }

std::string filter_text(std::string_view expression) { return fmt::format("{}\n", expression); }

std::string failed_filter_text(std::string_view expression, const FilterFailure& failure) {
  if (failure.kind == FilterFailureKind::kUnspecified) return fmt::format("{}\nError: (0)\n\n", expression);
  // The caret of this file is one to the right of the error log's, but at the very beginning.
  const auto position = std::min<std::size_t>(failure.position, expression.size());
  return fmt::format("{}\n{:>{}}\nparse_error: {}\n\n", expression, "^", position == 0 ? 1 : position + 1,
                     filter_failure_text(failure.kind));
}

std::string subsystem_filter_text() {
  return "### global filter ###\n"
         "# Use this to set filters for multiple events.\n"
         "# Only events with the given fields will be affected.\n"
         "# If no events are modified, an error message will be displayed here\n";
}

FilterErrorParts filter_error_parts(const FilterFailure& failure) {
  const bool is_named = failure.kind != FilterFailureKind::kUnspecified;
  return {filter_failure_text(failure.kind), is_named ? failure.position : 0};
}

std::size_t index_of_mistake(const FilterFailure& failure, std::string_view expression) {
  std::size_t index = failure.position;
  switch (failure.kind) {
    case FilterFailureKind::kUnspecified:
    case FilterFailureKind::kTooManyOpen:
    case FilterFailureKind::kTooManyClose:
    case FilterFailureKind::kMissingQuote:
    case FilterFailureKind::kTooManyPredicates:
    case FilterFailureKind::kNoFilter:
      break;
    default:
      if (index > 0) --index;  // the kernel counts predicates from their second character
  }
  return std::min(index, expression.size());
}

std::size_t begin_of_mistake(const FilterFailure& failure, std::string_view expression) {
  std::size_t index = index_of_mistake(failure, expression);
  if (failure.kind != FilterFailureKind::kFieldNotFound) return index;
  while (index > 0 && (is_alnum(expression[index - 1]) || expression[index - 1] == '_')) --index;
  return index;
}

}  // namespace landtrace::language
