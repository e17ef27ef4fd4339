// Numbers as most of a buffer's files take them: decimal, also with leading zeros.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::tracefs {

// Digits, a '+' before and one newline behind them allowed. EINVAL, ERANGE.
Result<std::uint64_t> decimal_in(std::string_view bytes);

}  // namespace landtrace::tracefs
