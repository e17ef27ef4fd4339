// Our threads in other people's programs, by the names that users see in ps and top. Who counts a program's own threads
// knows ours by them, so whoever makes one names it before anybody could count: pthread_setname_np() there, not in it.
#pragma once

#include <string_view>

namespace landtrace {

inline constexpr char kAgentThreadName[] = "landtrace-agent";
inline constexpr char kHelperThreadName[] = "landtrace";
inline constexpr char kBarrierThreadName[] = "landtrace-start";

constexpr bool is_own_thread_name(std::string_view name) {
  return name == kAgentThreadName || name == kHelperThreadName || name == kBarrierThreadName;
}

}  // namespace landtrace
