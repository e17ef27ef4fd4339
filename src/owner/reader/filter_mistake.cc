#include "reader/filter_mistake.hpp"

#include <fmt/format.h>

#include "language/filter/text.hpp"

namespace landtrace::reader {

tl::unexpected<Error> pointed_at(const std::string& what, const std::string& mistake, const std::string& line,
                                 std::size_t index) {
  return fail(EINVAL, fmt::format("{}: {}\n  {}\n  {:>{}}", what, mistake, line, "^", index + 1));
}

tl::unexpected<Error> point_at_filter(const std::string& what, const std::string& line, std::string_view expression,
                                      const language::FilterFailure& failure) {
  if (failure.kind == language::FilterFailureKind::kUnspecified) {
    return fail(EINVAL, fmt::format("{}: {}: this is no filter expression", what, line));
  }
  return pointed_at(what, std::string(filter_failure_text(failure.kind)), line,
                    line.size() - expression.size() + language::begin_of_mistake(failure, expression));
}

}  // namespace landtrace::reader
