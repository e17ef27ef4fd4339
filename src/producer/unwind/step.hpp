// From a frame to its caller's.
#pragma once

#include "unwind/rules.hpp"

namespace landtrace::unwind {

enum class Step : std::uint8_t {
  kCaller,       // the registers are the caller's now
  kSignalFrame,  // and those of what a signal interrupted: their pc is not a return address
  kEnd,          // there is no caller: the outermost frame of a thread
  kBroken,       // the table and the stack do not fit together
};

// By the rules that hold at the frame's pc, as find_rules() has found them.
Step step_by_rules(const Tables& tables, const Rules& rules, bool is_signal_frame, WordReader read,
                   Registers& registers);

// By the chain of frame pointers: rbp points to the caller's rbp, and behind that is the return address. Only as good
// as the code that it meets. Which other registers a frame saved is not known, so only these and the stack pointer
// remain.
Step step_by_frame_pointer(WordReader read, Registers& registers);

}  // namespace landtrace::unwind
