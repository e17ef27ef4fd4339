#include "bpf/run.hpp"

#include "bpf/interpret.hpp"

namespace landtrace::bpf {
namespace {

std::uint64_t run_code(Execution& run, const std::byte* code) {
  return reinterpret_cast<EntryPoint>(reinterpret_cast<std::uintptr_t>(code))(run);
}

template <std::uint32_t Frames>
[[gnu::noinline]] std::uint64_t run_with(const Program& program, std::byte* data, const std::byte* code_area,
                                         Surroundings& around, const std::byte* first, std::uint64_t size) {
  alignas(16) std::byte stack[Frames * kFrameSize];
  Execution run(program, data, around, stack);
  run.set_context(first, size);
  const bool has_code = program.code != 0 && code_area != nullptr;
  const std::uint64_t result = __builtin_expect(has_code, 1) ? run_code(run, code_area + program.code) : interpret(run);
  if (__builtin_expect(run.end == End::kNone, 1)) return result;
  run.count(run.end == End::kFault ? &Figures::faults : &Figures::exceeded);
  return 0;
}

}  // namespace

std::uint64_t run_program(const Program& program, std::byte* data, const std::byte* code_area, Surroundings& around,
                          const std::byte* first, std::uint64_t size) {
  if (__builtin_expect(program.frames == 1, 1)) return run_with<1>(program, data, code_area, around, first, size);
  return run_with<kMaxFrames>(program, data, code_area, around, first, size);
}

}  // namespace landtrace::bpf
