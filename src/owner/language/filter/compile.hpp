// From an expression to a program.
#pragma once

#include <string_view>

#include "language/filter/failure.hpp"
#include "language/filter/predicate.hpp"
#include "language/filter/program_buffer.hpp"

namespace landtrace::language {

// An expression against an event's fields. The failure says what the kernel says, with its errno: EINVAL mostly, EPERM,
// ENOENT or ESRCH for some of what is not an expression at all; E2BIG for a program above filter::kMaxProgram.
FilterResult<ProgramBuffer> compile_filter(std::string_view expression, const FilterNames& names);

// Whether the expression can be a filter at all: of an event that has what it names, of the right types.
FilterResult<void> check_filter(std::string_view expression);

// Whether the expression could be the filter of an event with these fields.
bool filter_fits(std::string_view expression, const FilterNames& names);

}  // namespace landtrace::language
