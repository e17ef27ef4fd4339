// The calling thread's stack of user-space functions, taken in the middle of whatever it does.
//
// The caller of a frame is found by the table of the frame's object (.eh_frame) where that covers the frame's pc, and
// only elsewhere by the frame pointer. The other way round would be wrong more often than not: compilers use rbp as any
// other register, so where it points says nothing, and a pointer into the stack looks like a frame and leads to one
// that is none. Tables are exact, at every instruction, and all compilers make them; code made at run time has none,
// and keeps frame pointers for that reason.
//
// Async-signal-safe: no lock, no allocation, no recursion, and no system call on a thread's own stack but at its first
// captures (stack_memory.hpp). Needs some 3 KiB of stack.
#pragma once

#include <cstdint>

#include "arch/registers.hpp"
#include "unwind/object.hpp"

namespace landtrace::unwind {

inline constexpr std::uint32_t kMaxFrames = 64;

// Which frames are the tracer's own and left out. Nothing is copied.
struct Own {
  // Functions by which programs call the tracer: what they call, and they themselves, are left out.
  const void* const* entries = nullptr;
  std::uint32_t entry_count = 0;
  // Everything in this code's own object at the near end of the stack, too: it is the shim.
  bool object = false;
  // Where the calling thread was when it was led away to the tracer: the registers of that place, by arch::Register.
  // nullptr: it was not, and has called the tracer.
  const std::uint64_t* (*led_from)() = nullptr;
};

// Code whose frames are left out, wherever on the stack: it stands between a program's functions.
struct CodeBetween {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  [[nodiscard]] bool holds(std::uint64_t pc) const { return pc - begin < end - begin; }
};

// Is told each object in which a frame lies, at least once.
struct ObjectListener {
  void (*function)(void* self, const Object& object) = nullptr;
  void* self = nullptr;
};

// Stores the addresses to which the functions on the stack will return, the nearest first, and returns how many: at
// most `max` and kMaxFrames. Of a function that a signal interrupted it is the address at which it did; and of one that
// the thread was led away from, the place, which comes first.
[[gnu::noinline]] std::uint32_t capture(std::uint64_t* frames, std::uint32_t max, const Own& own,
                                        ObjectListener listener = {}, const CodeBetween& between = {});

}  // namespace landtrace::unwind
