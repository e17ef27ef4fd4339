// What stands in shared memory, by the names that all of this layer speaks of.
#pragma once

#include "segments/cells.hpp"
#include "segments/control_memory.hpp"
#include "segments/grace.hpp"
#include "segments/users.hpp"

namespace landtrace::domain {

using segments::Cells;
using segments::ControlMemory;
using segments::Grace;
using segments::Holders;
using segments::kPatience;
using segments::publish;
using segments::User;
using segments::Users;

}  // namespace landtrace::domain
