// Where a program's pointers lead, as far as that can be told without going each of its ways. It decides how fast an
// access is and nothing else: what stands here may be wrong, code looks at the pointer before it follows it.
#pragma once

#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "bpf/windows.hpp"

namespace landtrace::bpf_code {

struct Hint {
  enum class Kind : std::uint8_t {
    kNone,
    // `number` bytes behind the context's beginning; behind the frame pointer.
    kContext,
    kFrame,
    // Somewhere in window `number`.
    kWindow,
    // The map `number` itself.
    kMap,
  };
  Kind kind = Kind::kNone;
  std::int32_t number = 0;
};

class Hints {
 public:
  Hints(std::span<const bpf::Instruction> code, std::uint32_t map_count);

  // Of a register, before the instruction `pc` is run.
  [[nodiscard]] Hint at(std::uint32_t pc, unsigned reg) const { return known_[pc][reg]; }

 private:
  struct State {
    std::array<Hint, bpf::kRegisters> registers;
    // What was stored there: the first one lies right below the frame pointer.
    std::array<Hint, bpf::kFrameSize / 8> frame;

    // The whole slot that lies so far from the frame pointer; nullptr: none does.
    Hint* slot(std::int32_t distance) {
      const bool is_slot = distance < 0 && distance >= -std::int32_t{bpf::kFrameSize} && distance % 8 == 0;
      return is_slot ? &frame[static_cast<std::size_t>(-distance / 8 - 1)] : nullptr;
    }
  };
  static_assert(std::is_trivially_copyable_v<State>, "it is copied at each jump");
  void follow(State& state, std::uint32_t pc) const;
  void calculate(State& state, const bpf::Instruction& one) const;
  [[nodiscard]] Hint constant(std::uint64_t value) const;

  std::span<const bpf::Instruction> code_;
  std::uint32_t map_count_;
  std::vector<std::array<Hint, bpf::kRegisters>> known_;
};

}  // namespace landtrace::bpf_code
