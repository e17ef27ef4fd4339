// The functions of an object, as their sources have them.
#pragma once

#include <functional>

#include "dwarf/answer.hpp"
#include "dwarf/reading/object.hpp"

namespace landtrace::dwarf {

void for_each_function(const Object& object, const std::function<void(const DescribedFunction&)>& look);

}  // namespace landtrace::dwarf
