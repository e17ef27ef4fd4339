// What users write for a value: "req->status", "p.x", "a[2]", "name:string", "$params".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dwarf/answer.hpp"
#include "dwarf/reading/scope.hpp"

namespace landtrace::dwarf {

// The values that it means: one, or for "$params" and "$vars" as many of them as can be fetched.
NamedValues find_values(const Scope& scope, std::string_view expression);

}  // namespace landtrace::dwarf
