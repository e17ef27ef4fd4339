// What is wrong with a filter expression, and where.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "language/filter/failure.hpp"

namespace landtrace::reader {

// What is wrong with `line`, which `what` stands for, and below it the line and a caret. EINVAL.
tl::unexpected<Error> pointed_at(const std::string& what, const std::string& mistake, const std::string& line,
                                 std::size_t index);
// The same for a filter, which ends `line`.
tl::unexpected<Error> point_at_filter(const std::string& what, const std::string& line, std::string_view expression,
                                      const language::FilterFailure& failure);

}  // namespace landtrace::reader
