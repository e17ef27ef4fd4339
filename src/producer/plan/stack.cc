#include "plan/stack.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "arch/clock.hpp"
#include "arch/kept_vectors.hpp"
#include "plan/foreign_stack.hpp"

namespace landtrace::plan {
namespace {

constinit unwind::Own own_frames{};
constinit unwind::CodeBetween code_between{};

struct Noting {
  const View& view;
  std::uint32_t pid;
};

void note(void* self, const unwind::Object& object) {
  const auto& noting = *static_cast<const Noting*>(self);
  const auto clock = static_cast<arch::RawClock>(noting.view.control->raw_clock);
  unwind::note_object(noting.view.data->objects, noting.pid, object, arch::read_raw_clock(clock));
}

// Threads whose ids mean nothing to the owner have no pid in their slot.
std::uint32_t pid_of(const View& view, const Thread& thread) {
  if (thread.is_proxy) return __atomic_load_n(&view.data->tasks[thread.tid % kMaxTasks].pid, __ATOMIC_RELAXED);
  return thread.slot->pid != 0 || !arch::may_call() ? thread.slot->pid : static_cast<std::uint32_t>(::getpid());
}

}  // namespace

void set_own_frames(const unwind::Own& own) { own_frames = own; }

void set_code_between(std::uint64_t begin, std::uint64_t end) { code_between = {begin, end}; }

const std::uint64_t* registers_of_place() { return own_frames.led_from == nullptr ? nullptr : own_frames.led_from(); }

std::uint32_t capture_stack(const View& view, const Thread& thread, std::uint64_t* frames, std::uint32_t max) {
#ifndef LANDTRACE_AGENT  // there are no proxies in programs
  if (thread.is_proxy) return capture_foreign_stack(view, thread, pid_of(view, thread), frames);
#endif
  if (!arch::may_call()) return 0;
  const arch::AllVectorsKept vectors;
  const int saved_errno = errno;
  Noting noting{view, pid_of(view, thread)};
  const std::uint32_t count = unwind::capture(frames, max, own_frames, {note, &noting}, code_between);
  errno = saved_errno;
  return count;
}

void note_object_at(const View& view, const Thread& thread, std::uint64_t address) {
  unwind::Object object;
  char name[unwind::kMaxObjectName];
  if (!unwind::find_fleeting_object(address, object, name)) return;
  const auto clock = static_cast<arch::RawClock>(view.control->raw_clock);
  unwind::note_fleeting_object(view.data->objects, pid_of(view, thread), object, arch::read_raw_clock(clock));
}

void record_stack(const View& view, const Thread& thread, const PlanStep& step) {
  UserStack stack;
  stack.tgid = pid_of(view, thread);
  stack.padding = 0;
  const std::uint32_t count = capture_stack(view, thread, stack.caller, unwind::kMaxFrames);
  write_stack(view, thread, step, stack, count);
}

void write_stack(const View& view, const Thread& thread, const PlanStep& step, UserStack& stack, std::uint32_t count) {
  if (count < kKernelFrames) std::memset(stack.caller + count, 0, (kKernelFrames - count) * sizeof stack.caller[0]);
  const std::uint64_t size = offsetof(UserStack, caller) + std::max(count, kKernelFrames) * sizeof stack.caller[0];
  const Segment segment{&stack, size};
  record_in(view, thread, step, kUserStackSlot, &segment, 1, static_cast<std::uint32_t>(size));
}

}  // namespace landtrace::plan
