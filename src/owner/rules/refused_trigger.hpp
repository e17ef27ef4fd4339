// Why a trigger was not taken.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "language/filter/failure.hpp"

namespace landtrace::rules {

struct RefusedTrigger {
  Error error;
  std::optional<language::FilterFailure> filter;  // why its filter is none
  std::string expression;                         // that filter
};

// For an error that is not its filter's.
inline tl::unexpected<RefusedTrigger> refuse(Error error) {
  return tl::unexpected<RefusedTrigger>({std::move(error), {}, {}});
}

}  // namespace landtrace::rules
