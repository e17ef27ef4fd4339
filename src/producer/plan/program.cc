#include "plan/program.hpp"

#include <sys/mman.h>

#include <tuple>

#include "arch/registers.hpp"
#include "arch/thread_time.hpp"
#include "base/system_call.hpp"
#include "bpf/run.hpp"
#include "plan/program_memory.hpp"
#include "plan/stack.hpp"

namespace landtrace::plan {
namespace {

std::uint32_t process_of(const View& view, const Thread& thread) {
  const TaskEntry& task = view.data->tasks[thread.tid % kMaxTasks];
  return thread.is_proxy || thread.slot->pid == 0 ? task.pid : thread.slot->pid;
}

class Place final : public bpf::Surroundings {
 public:
  Place(const View& view, const Thread& thread) : view_(view), thread_(thread) {}

  std::uint32_t cpu() override { return detail::current_cpu(thread_); }
  std::uint32_t tid() override { return thread_.tid; }
  std::uint64_t pid_tgid() override { return std::uint64_t{process_of(view_, thread_)} << 32 | thread_.tid; }
  std::uint64_t uid_gid() override {
    // Of a thread that cannot be asked: nobody's.
    constexpr std::uint64_t kNobody = 65534;
    if (thread_.is_proxy || !arch::may_call()) return kNobody << 32 | kNobody;
    const auto uid = static_cast<std::uint32_t>(system_call(SYS_getuid));
    const auto gid = static_cast<std::uint32_t>(system_call(SYS_getgid));
    return std::uint64_t{gid} << 32 | uid;
  }
  void comm(char* name) override {
    char whole[filter::kCommSize];
    detail::read_name(view_, thread_, whole);
    for (std::uint32_t i = 0; i < bpf::kCommSize; ++i) name[i] = whole[i];
  }
  std::uint64_t time_ns() override { return arch::system_clock_ns(CLOCK_MONOTONIC); }
  std::uint32_t capture_stack(std::uint64_t* frames, std::uint32_t max) override {
    return plan::capture_stack(view_, thread_, frames, max);
  }
  // Addresses of another process mean nothing here.
  std::size_t read_memory(std::uint64_t from, void* to, std::size_t size) override {
    return thread_.is_proxy ? 0 : memory_.read(from, to, size);
  }
  bool read_text(std::uint64_t from, char* to, std::size_t size, std::size_t& length) override {
    return !thread_.is_proxy && memory_.read_text(from, to, size, length);
  }
  std::uint64_t* shared_budget() override { return thread_.program_budget; }

 private:
  const View& view_;
  const Thread& thread_;
  ProgramMemory memory_;
};
static_assert(filter::kCommSize == bpf::kCommSize);

void count_missed(const View& view, const bpf::Program& program) {
  auto* const figures = reinterpret_cast<bpf::Figures*>(reinterpret_cast<std::byte*>(view.data) + program.figures);
  __atomic_fetch_add(&figures->missed, 1, __ATOMIC_RELAXED);
}

void run_on(const View& view, const Thread& thread, const bpf::Program& program, const std::byte* context,
            std::size_t size) {
  Place place(view, thread);
  bpf::run_program(program, reinterpret_cast<std::byte*>(view.data), view.code, place, context, size);
}

// Of more than a thread's stack is sure to have room for: in pages of its own.
[[gnu::noinline]] void run_on_large_copy(const View& view, const Thread& thread, const bpf::Program& program,
                                         const abi::Payload& payload, std::size_t size) {
  constexpr int kAccess = PROT_READ | PROT_WRITE, kKind = MAP_PRIVATE | MAP_ANONYMOUS;
  const long pages = arch::may_call() ? system_call(SYS_mmap, 0L, size, kAccess, kKind, -1, 0L) : -EPERM;
  if (pages < 0) return count_missed(view, program);
  auto* const whole = reinterpret_cast<std::byte*>(pages);
  run_on(view, thread, program, whole, payload.copy(0, whole, size));
  system_call(SYS_munmap, whole, size);
}

// The context is in one piece: what is in several is copied first.
[[gnu::noinline]] void run_on_copy(const View& view, const Thread& thread, const bpf::Program& program,
                                   const Segment* segments, std::uint32_t segment_count) {
  if (segment_count == 0) return count_missed(view, program);
  const abi::Payload payload(segments, segment_count);
  std::size_t size = 0;
  for (std::uint32_t i = 0; i < segment_count; ++i) size += segments[i].size;
  constexpr std::uint64_t kMaxOnStack = 3072;
  if (size > kMaxOnStack) return run_on_large_copy(view, thread, program, payload, size);
  std::byte whole[kMaxOnStack];
  run_on(view, thread, program, whole, payload.copy(0, whole, size));
}

// Of the place where the thread is led from its program: there is none for who writes on behalf of another process.
[[gnu::noinline]] void run_on_registers(const View& view, const Thread& thread, const bpf::Program& program) {
  const std::uint64_t* const there = thread.is_proxy ? nullptr : registers_of_place();
  if (there == nullptr) return count_missed(view, program);
  // As a thread has them in user space.
  constexpr std::uint64_t kCodeSegment = 0x33, kStackSegment = 0x2b, kNoCall = ~0ull;
  bpf::ProbedRegisters registers;
  static_assert(sizeof registers.general == 8 * (arch::kRdi + 1));
  for (std::uint32_t i = 0; i <= arch::kRdi; ++i) registers.general[i] = there[i];
  registers.original_ax = kNoCall;
  registers.ip = there[arch::kRip];
  registers.cs = kCodeSegment;
  registers.flags = there[arch::kRflags];
  registers.sp = there[arch::kRsp];
  registers.ss = kStackSegment;
  std::ignore = run_bpf_on(view, thread, program, reinterpret_cast<const std::byte*>(&registers), sizeof registers);
}

}  // namespace

std::optional<std::uint64_t> run_bpf_on(const View& view, const Thread& thread, const bpf::Program& program,
                                        const std::byte* context, std::uint64_t size) {
  if (program.owner != view.consumed_row) return std::nullopt;
  Place place(view, thread);
  return bpf::run_program(program, reinterpret_cast<std::byte*>(view.data), view.code, place, context, size);
}

void run_bpf(const View& view, const Thread& thread, const bpf::Program& program, const Segment* segments,
             std::uint32_t segment_count) {
  if (program.owner != view.consumed_row) return;
  if (program.only_pid != 0 && process_of(view, thread) != program.only_pid) return;
  if (program.context == bpf::Context::kProbed) return run_on_registers(view, thread, program);
  if (__builtin_expect(segment_count != 1, 0)) return run_on_copy(view, thread, program, segments, segment_count);
  run_on(view, thread, program, static_cast<const std::byte*>(segments->data), segments->size);
}

void detail::run_program(const View& view, const Thread& thread, const PlanStep& step, const Segment* segments,
                         std::uint32_t segment_count) {
  run_bpf(view, thread, *control_at<bpf::Program>(view, static_cast<std::uint32_t>(step.program)), segments,
          segment_count - view.unseen);
}

}  // namespace landtrace::plan
