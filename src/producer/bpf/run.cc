#include "bpf/run.hpp"

#include "bpf/interpret.hpp"

namespace landtrace::bpf {
namespace {

template <std::uint32_t Frames>
[[gnu::noinline]] std::uint64_t run_with(const Program& program, std::byte* data, Surroundings& around,
                                         const std::byte* first, std::uint64_t size) {
  alignas(16) std::byte stack[Frames * kFrameSize];
  Execution run(program, data, around, stack);
  run.set_context(first, size);
  const std::uint64_t result = interpret(run);
  if (__builtin_expect(run.end == End::kNone, 1)) return result;
  run.count(run.end == End::kFault ? &Figures::faults : &Figures::exceeded);
  return 0;
}

}  // namespace

std::uint64_t run_program(const Program& program, std::byte* data, Surroundings& around, const std::byte* first,
                          std::uint64_t size) {
  if (__builtin_expect(program.frames == 1, 1)) return run_with<1>(program, data, around, first, size);
  return run_with<kMaxFrames>(program, data, around, first, size);
}

}  // namespace landtrace::bpf
