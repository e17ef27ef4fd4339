#include "bpf/run.hpp"

namespace landtrace::bpf::detail {

std::uint64_t count_end(const Execution& run) {
  run.count(run.end == End::kFault ? &Figures::faults : &Figures::exceeded);
  return 0;
}

std::uint64_t interpret_within_limits(Execution& run) {
  std::uint64_t* const left = run.around.shared_budget();
  if (left == nullptr) return interpret(run);
  if (*left < run.budget) run.budget = *left;
  const std::uint64_t result = interpret(run);
  *left = run.end == End::kNone ? run.budget : 0;
  return result;
}

std::uint64_t run_with_subprograms(const Program& program, std::byte* data, const std::byte* code_area,
                                   Surroundings& around, const std::byte* first, std::uint64_t size) {
  return run_with<kMaxFrames>(program, data, code_area, around, first, size);
}

}  // namespace landtrace::bpf::detail
