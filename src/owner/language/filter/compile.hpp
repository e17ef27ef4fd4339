// From an expression to a program.
#pragma once

#include <string_view>

#include "language/filter/failure.hpp"
#include "language/filter/predicate.hpp"
#include "language/filter/program_buffer.hpp"

namespace landtrace::language {

// Compiles an expression for an event's fields. The failure is the kernel's, with its errno: mostly EINVAL; EPERM,
// ENOENT or ESRCH for some texts that are not expressions; E2BIG for a program above filter::kMaxProgram.
FilterResult<ProgramBuffer> compile_filter(std::string_view expression, const FilterNames& names);

// Whether the expression is valid for some event: one that has the fields that it names, with types that fit.
FilterResult<void> check_filter(std::string_view expression);

// Whether the expression could be the filter of an event with these fields.
bool filter_fits(std::string_view expression, const FilterNames& names);

}  // namespace landtrace::language
