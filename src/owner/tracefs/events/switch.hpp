// What the enable files take: 0 or 1.
#pragma once

#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

// EINVAL, ERANGE.
inline Result<bool> switch_in(std::string_view bytes) {
  LT_TRY(const std::uint64_t number, number_in(bytes, 10));
  if (number > 1) return fail(EINVAL, "want 0 or 1");
  return number == 1;
}

}  // namespace landtrace::tracefs
