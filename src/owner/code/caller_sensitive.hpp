// Functions whose return must not go by way of somebody else, by their names.
#pragma once

#include <string_view>

namespace landtrace::code {

// Returns twice or elsewhere, as setjmp and vfork do, or asks who called it, as dlopen does. By its linker name.
bool sees_its_caller(std::string_view name);

// Has no return address at the top of the stack, whatever .eh_frame says.
bool has_no_return_address(std::string_view name);

}  // namespace landtrace::code
