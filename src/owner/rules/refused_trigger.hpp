// Why a trigger was not taken.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "language/filter/failure.hpp"

namespace landtrace::rules {

struct RefusedTrigger {
  Error error;
  std::optional<language::FilterFailure> filter;  // why its filter is none
  std::string expression;                         // that filter
};

}  // namespace landtrace::rules
