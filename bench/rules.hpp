// The events that filters judge in the rows of rules, and the filters: the same for us and for LTTng.
#pragma once

#include <cstddef>
#include <cstdint>

namespace landtrace::bench::rules {

inline constexpr std::uint32_t kNumber = 4;  // of the field n; s is 0
inline constexpr std::size_t kTextSize = 32;
inline constexpr char kText[kTextSize] = "the quick brown fox jumps away.";

inline constexpr const char* kOne = "n == 5";
inline constexpr const char* kTwo = "n == 4 && s > 0";
inline constexpr const char* kPassed = "n == 4";
inline constexpr const char* kInside = "text ~ \"*abc*\"";
inline constexpr const char* kLttngInside = "text == \"*abc*\"";  // LTTng's way to say it

}  // namespace landtrace::bench::rules
