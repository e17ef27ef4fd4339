// The processor's registers by the names that fetch arguments have for them. Internal to language.
#pragma once

#include <string_view>

#include "language/probe/fetch.hpp"

namespace landtrace::language {

// Sets where the value of "di" comes from. False: no register has that name.
bool set_register(Fetch& fetch, std::string_view name);

}  // namespace landtrace::language
