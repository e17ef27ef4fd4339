// The stack of a thread as an event of ftrace's own, user_stack.
#pragma once

#include "plan/emit.hpp"
#include "unwind/capture.hpp"

namespace landtrace::plan {

// As the kernel has it, but that the kernel's always has eight addresses, the last ones 0; ours at least as many.
inline constexpr std::uint32_t kKernelFrames = 8;
struct UserStack {
  std::uint32_t tgid;
  std::uint32_t padding;
  std::uint64_t caller[unwind::kMaxFrames];
};
static_assert(sizeof(UserStack) == 8 + 8 * unwind::kMaxFrames);

// What of the process's stacks is the tracer itself; what `own` points to must stay. To be called before threads emit.
void set_own_frames(const unwind::Own& own);

// The addresses on the calling thread's stack, the nearest first, at most `max`; returns how many. Of a thread of another
// process there is at most one (foreign_stack.hpp). The objects in which they lie are noted in the data segment.
// Async-signal-safe; takes some 3 KiB of stack.
std::uint32_t capture_stack(const View& view, const Thread& thread, std::uint64_t* frames, std::uint32_t max);

// Records the calling thread's stack in the instance of the step, a kRecord, and where its objects are in the data
// segment. The caller is inside a Section. Async-signal-safe; takes some 4 KiB of stack.
void record_stack(const View& view, const Thread& thread, const PlanStep& step);

// Records the first `count` addresses of `stack`, and zeros behind them: readers that know the kernel's format alone look
// at eight.
void write_stack(const View& view, const Thread& thread, const PlanStep& step, UserStack& stack, std::uint32_t count);

}  // namespace landtrace::plan
