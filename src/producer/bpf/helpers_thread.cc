#include <cerrno>

#include "bpf/helpers.hpp"
#include "bpf/maps/stacks.hpp"

namespace landtrace::bpf::helpers {

std::uint64_t ktime_get_ns(Execution& run, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t) {
  return run.around.time_ns();
}

std::uint64_t get_current_pid_tgid(Execution& run, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                   std::uint64_t) {
  return run.around.pid_tgid();
}

std::uint64_t get_current_uid_gid(Execution& run, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                  std::uint64_t) {
  return run.around.uid_gid();
}

std::uint64_t get_current_comm(Execution& run, std::uint64_t to, std::uint64_t size, std::uint64_t, std::uint64_t,
                               std::uint64_t) {
  size = static_cast<std::uint32_t>(size);
  std::byte* const at = run.writable(to, size);
  if (at == nullptr || size == 0) return run.stop(End::kFault);
  if (!run.spend(size / 8)) return 0;
  char name[kCommSize];
  run.around.comm(name);
  for (std::uint64_t i = 0; i < size; ++i)
    at[i] = i < kCommSize && i + 1 < size ? static_cast<std::byte>(name[i]) : std::byte{0};
  return 0;
}

// Whose values of per-CPU maps a program sees: mostly the CPU that it runs on.
std::uint64_t get_smp_processor_id(Execution& run, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                                   std::uint64_t) {
  return run.has_row ? run.row_number : run.around.cpu();
}

// Of the time: nobody must take it for a secret.
std::uint64_t get_prandom_u32(Execution& run, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                              std::uint64_t) {
  std::uint64_t x = run.around.time_ns() ^ run.budget << 20 ^ static_cast<std::uint64_t>(run.around.tid()) << 40;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return static_cast<std::uint32_t>(x ^ x >> 31);
}

std::uint64_t get_stackid(Execution& run, std::uint64_t, std::uint64_t map, std::uint64_t flags, std::uint64_t,
                          std::uint64_t) {
  constexpr std::uint64_t kKnown =
      BPF_F_SKIP_FIELD_MASK | BPF_F_USER_STACK | BPF_F_FAST_STACK_CMP | BPF_F_REUSE_STACKID;
  std::uint32_t index = 0;
  const MapLayout* const layout = run.map_of(map, index);
  if (layout == nullptr || layout->kind != kStackTrace) return run.stop(End::kFault);
  if ((flags & ~kKnown) != 0) return answer(-EINVAL);
  // There is no kernel's part of a stack here.
  if ((flags & BPF_F_USER_STACK) == 0) return answer(-EFAULT);
  // Another process's thread is looked for in the system's files.
  constexpr std::uint64_t kCostOfForeign = 4096;
  if (!run.spend(run.around.shared_budget() != nullptr ? kCostOfForeign : kMaxStackFrames)) return 0;
  const Stacks stacks(run.data, *layout);
  std::uint64_t frames[kMaxStackFrames];
  const auto skip = static_cast<std::uint32_t>(flags & BPF_F_SKIP_FIELD_MASK);
  const std::uint32_t count = run.around.capture_stack(frames, kMaxStackFrames);
  if (count <= skip) return answer(-EFAULT);
  const std::uint32_t kept = count - skip < stacks.max_frames() ? count - skip : stacks.max_frames();
  return answer(stacks.store(frames + skip, kept, flags));
}

}  // namespace landtrace::bpf::helpers
