// From an expression to a program.
#pragma once

#include <string_view>

#include "filter/failure.hpp"
#include "filter/predicate.hpp"
#include "filter/program.hpp"

namespace landtrace::filter {

// An expression against an event's fields. The failure says what the kernel says, with its errno: EINVAL mostly, EPERM,
// ENOENT or ESRCH for some of what is not an expression at all; E2BIG for a program above kMaxProgram.
Parsed<ProgramBuffer> compile(std::string_view expression, const Names& names);

// Whether the expression can be a filter at all: of an event that has what it names, of the right types.
Parsed<void> check_expression(std::string_view expression);

// Whether the expression could be the filter of an event with these fields.
bool fits(std::string_view expression, const Names& names);

}  // namespace landtrace::filter
