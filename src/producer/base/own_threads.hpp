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

// Whether the program has threads beside the calling one. Those do not count that we have made in it, nor its first one
// where that has ended before others: it is in the list to the end. True where nobody says so (no /proc).
// Async-signal-safe.
bool program_has_other_threads();

// Whether the calling thread, one of ours, is all that keeps a program whose first thread has ended, as by
// pthread_exit(). Without a descriptor as long as it has not. Async-signal-safe.
bool program_has_ended();

}  // namespace landtrace
