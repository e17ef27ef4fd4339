// Text of programs on a terminal.
#pragma once

#include "output/visible.hpp"

namespace landtrace::cli {

using output::Lines;
using output::visible;
using output::visible_record;

}  // namespace landtrace::cli
