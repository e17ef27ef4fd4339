// The verifier at work: see verify.hpp. Its parts are in files by what an instruction does.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "verifier/flow.hpp"
#include "verifier/helper_rules.hpp"
#include "verifier/verify.hpp"

namespace landtrace::verifier {

// Of what calculates and what jumps: with all 64 bits.
inline bool is_64(const Instruction& one) { return BPF_CLASS(one.code) == BPF_ALU64 || BPF_CLASS(one.code) == BPF_JMP; }
// The constant in an instruction.
inline Register constant_operand(const Instruction& one) {
  const auto number = static_cast<std::uint64_t>(std::int64_t{one.imm});
  return Register::scalar(Scalar::constant(is_64(one) ? number : static_cast<std::uint32_t>(number)));
}

class Verifier {
 public:
  enum class Ranges { kKept, kForgotten };
  Verifier(std::span<const Instruction> code, std::span<const MapLayout> maps, bpf::Context context, unsigned log_level,
           Ranges ranges)
      : code_(code), maps_(maps), context_(context), log_level_(log_level), ranges_(ranges) {}

  Verdict run();

 private:
  // Why the program is refused; thrown where it is found out.
  struct Refusal {
    int error;
    std::string text;
  };
  template <typename... Arguments>
  [[noreturn]] static void refuse(int error, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    throw Refusal{error, fmt::format(format, std::forward<Arguments>(arguments)...)};
  }

  // A state that was met where ways meet, and how many ways from there are not at their end.
  struct Met {
    State state;
    Met* from;
    int open;
    std::size_t bytes;
  };
  struct Way {
    State state;
    Met* from;
    std::size_t bytes;
  };

  // -- ways: verifier.cc
  void walk(Way way);
  void forget_ranges(State& state) const;
  bool is_known(State& state, Met* from);
  void end_way(Met* last);
  void take_other_way(State state);
  void note_memory();
  // False: the way has ended.
  bool step(State& state);
  void note(const State& state);

  // -- instructions
  void calculate(State& state, const Instruction& one);
  void move(State& state, const Instruction& one);
  void change_byte_order(State& state, const Instruction& one);
  void move_pointer(State& state, const Instruction& one, const Register& pointer, const Register& by, bool minus);
  void load_constant(State& state, const Instruction& one);
  void load(State& state, const Instruction& one);
  void store(State& state, const Instruction& one);
  void store_atomically(State& state, const Instruction& one);
  bool branch(State& state, const Instruction& one);
  void learn_null(State& state, std::uint32_t id, bool is_null);
  void learn(State& state, const Register& before, const Scalar& now);
  void call_helper(State& state, const Instruction& one);
  void call_subprogram(State& state, const Instruction& one);
  bool leave(State& state);

  // -- registers
  Register& readable(State& state, unsigned number);
  const Register& scalar(State& state, unsigned number, const char* what);
  std::uint32_t new_id() { return ++last_id_; }

  // -- memory: `fixed` is added to the pointer
  enum class Access { kRead, kWrite };
  void check_access(State& state, unsigned number, const Register& pointer, std::int64_t fixed, std::uint64_t size,
                    Access access);
  void check_context(const Register& pointer, std::int64_t at, std::uint64_t size, Access access);
  void check_range(unsigned number, const Register& pointer, std::int64_t at, std::uint64_t size, std::uint64_t limit,
                   const char* what);
  // The frame pointer's distance, 1 to 512.
  std::int64_t stack_depth(unsigned number, const Register& pointer, std::int64_t fixed, std::uint64_t size);
  Register read_stack(State& state, const Register& pointer, std::int64_t depth, std::uint64_t size);
  void check_stack_read(State& state, const Register& pointer, std::int64_t depth, std::uint64_t size);
  void write_stack(State& state, const Register& pointer, std::int64_t depth, std::uint64_t size,
                   const Register* value);

  // -- helpers
  struct Call {
    const HelperRule& rule;
    const MapLayout* map = nullptr;
    std::uint32_t map_number = 0;
    std::uint64_t record_size = 0;
    std::uint32_t released = 0;
  };
  void check_argument(State& state, Call& call, unsigned index);
  void check_sized(State& state, const Call& call, unsigned number);
  void check_memory_argument(State& state, unsigned number, std::uint64_t size, Access access, bool is_exact);
  void release(State& state, std::uint32_t reference);

  std::span<const Instruction> code_;
  std::span<const MapLayout> maps_;
  bpf::Context context_;
  unsigned log_level_;
  Ranges ranges_;
  Verdict verdict_;
  LiveRegisters live_;
  std::vector<bool> meets_;
  std::vector<Way> left_;
  std::vector<std::vector<std::unique_ptr<Met>>> met_;  // by instruction
  std::size_t kept_bytes_ = 0;
  std::size_t left_bytes_ = 0;
  std::uint64_t compared_ = 0;
  Met* current_ = nullptr;
  std::uint32_t last_id_ = 0;
};

}  // namespace landtrace::verifier
