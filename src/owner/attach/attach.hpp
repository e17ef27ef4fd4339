// Brings the agent of probes into a program that runs, and into a domain.
//
//     look at the program      facts.hpp          may it be attached, and are we allowed to
//     find libc, write code    program_memory.hpp, detour.hpp
//     choose a thread          safe_place.hpp     one that waits; else one that runs, when it stands in its own code
//     stop it, send it there, let it go           traced_thread.hpp; some 50 us
//     wait until the agent has begun, by what the code leaves in memory
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace landtrace::attach {

// How long a thread may take to stop.
inline constexpr std::chrono::seconds kStopPatience{1};

struct Request {
  std::uint32_t pid = 0;
  std::string agent;   // path of liblandtrace-agent.so
  std::string socket;  // of the domain
  // Once this is true it is given up; nullptr: never. Without a partner: nothing else is looked at.
  const std::atomic<bool>* cancelled = nullptr;
  // Counted up while it gets on, at least once in kStopPatience; nullptr: nobody looks. What the program has mapped may
  // keep whoever looks there from ever coming back. Without a partner, too.
  std::atomic<std::uint64_t>* progress = nullptr;
  // Of seccomp: with no more than so many a thread of it is let in, as whoever asks knows.
  unsigned harmless_filters = 0;
};

struct Attached {
  std::string name;  // "1234 (bash)"
  bool was_attached = false;
  std::uint64_t stopped_ns = 0;  // how long a thread did not run for our sake
};

// The errors are sentences, and say what to do where something can be done. EBUSY: try again. ESRCH: it has ended; a
// pidfd may tell later, as its memory goes first. ECONNRESET: so it has, but its agent may have begun before that. The
// program goes on unharmed in any case.
Result<Attached> attach(const Request& request);

}  // namespace landtrace::attach
