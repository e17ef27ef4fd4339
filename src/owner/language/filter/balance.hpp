// The first look at an expression: whether its quotes and parentheses are closed.
#pragma once

#include <string_view>

#include "language/filter/failure.hpp"

namespace landtrace::language {

FilterResult<void> check_balance(std::string_view expression);

}  // namespace landtrace::language
