// The stack of a thread as an event of ftrace's own, user_stack.
#pragma once

#include "plan/emit.hpp"
#include "unwind/capture.hpp"

namespace landtrace::plan {

// The payload, as the kernel's, which always has eight addresses, the last ones 0; ours has at least as many.
//
//   0      4         8            16           24
//   +------+---------+------------+------------+----
//   | tgid | padding | caller[0]  | caller[1]  | …       the nearest first
//   +------+---------+------------+------------+----
inline constexpr std::uint32_t kKernelFrames = 8;
struct UserStack {
  std::uint32_t tgid;
  std::uint32_t padding;
  std::uint64_t caller[unwind::kMaxFrames];
};
LT_SHARED(UserStack, 8 + 8 * unwind::kMaxFrames, 8);
LT_SHARED_AT(UserStack, tgid, 0);
LT_SHARED_AT(UserStack, caller, 8);

// Says which frames of the process's stacks are the tracer's own; what `own` points to must stay. To be called before
// threads emit.
void set_own_frames(const unwind::Own& own);
// Frames whose code lies there are no program's, wherever on a stack: the return stubs of probes. To be called before
// threads are led there.
void set_code_between(std::uint64_t begin, std::uint64_t end);

// The registers of the place in code from which the calling thread was led to where it is now, by arch::Register;
// nullptr: it was not.
const std::uint64_t* registers_of_place();

// The addresses on the calling thread's stack, the nearest first, at most `max`; returns how many. Of a thread of
// another process there is at most one (foreign_stack.hpp). The objects in which they lie are noted in the data
// segment. Async-signal-safe; takes some 3 KiB of stack.
std::uint32_t capture_stack(const View& view, const Thread& thread, std::uint64_t* frames, std::uint32_t max);

// Notes the object in which the address of this process lies, for whoever shows addresses of it later. Nothing where
// none does. Async-signal-safe.
void note_object_at(const View& view, const Thread& thread, std::uint64_t address);

// Records the calling thread's stack in the instance of the step, a record, and where its objects are in the data
// segment. The caller is inside a Section. Async-signal-safe; takes some 4 KiB of stack.
void record_stack(const View& view, const Thread& thread, const PlanStep& step);

// Records the first `count` addresses of `stack`, and zeros behind them up to eight: readers that know the kernel's
// format alone look at that many.
void write_stack(const View& view, const Thread& thread, const PlanStep& step, UserStack& stack, std::uint32_t count);

}  // namespace landtrace::plan
