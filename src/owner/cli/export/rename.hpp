// Names that are given where nothing may go for them.
#pragma once

#include <string>

#include "base/result.hpp"

namespace landtrace::cli {

// EEXIST: something is there.
Result<void> rename_to_free(const std::string& from, const std::string& to);

}  // namespace landtrace::cli
