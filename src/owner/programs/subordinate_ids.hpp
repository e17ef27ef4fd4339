// User ids that an ordinary user may take: for containers the system gives each some ten thousand of them.
#pragma once

#include <cstdint>
#include <string>

namespace landtrace::programs {

inline constexpr const char* kSubordinateIds = "/etc/subuid";

// Whose user id it is by such a file (subuid(5)): a name, or a number. "": nobody's, or there is no such file.
std::string holder_of(std::uint32_t uid, const std::string& path = kSubordinateIds);

}  // namespace landtrace::programs
