// Programs that are made at random of what programs usually consist of; the verifier takes a good part of them.
#pragma once

#include <algorithm>
#include <random>

#include "verifier/disassemble.hpp"
#include "verifier/test_verify.hpp"

namespace landtrace::verifier {

using namespace bpf::code;

inline constexpr int kSizes[] = {BPF_B, BPF_H, BPF_W, BPF_DW};
inline constexpr int kCalculations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_OR,  BPF_AND,
                                        BPF_LSH, BPF_RSH, BPF_MOD, BPF_XOR, BPF_ARSH};
inline constexpr int kComparisons[] = {BPF_JEQ,  BPF_JNE,  BPF_JGT,  BPF_JGE,  BPF_JLT, BPF_JLE,
                                       BPF_JSET, BPF_JSGT, BPF_JSGE, BPF_JSLT, BPF_JSLE};

class ProgramWriter {
  using Instruction = bpf::Instruction;

 public:
  explicit ProgramWriter(std::uint64_t seed) : random_(seed) {}

  // r6 is the context; r7 to r9 mostly numbers.
  Code write() {
    code_ = {copy(6, 1)};
    for (const int reg : {0, 2, 3, 4, 5, 7, 8, 9}) {
      if (one_in(40)) continue;
      add(set(reg, number()));
    }
    for (int i = 1; i <= 6; ++i) add(one_in(6) ? store(BPF_DW, 10, -8 * i, 6) : put(BPF_DW, 10, -8 * i, below(100)));
    add(load(BPF_W, 7, 6, 8));
    add(load(BPF_DW, 8, 6, 16));
    for (int left = 3 + below(30); left > 0; --left) add_something();
    add(set(0, 0));
    add(leave());
    mend_jumps();
    return code_;
  }
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  std::uint64_t operator()() { return random_(); }

 private:
  bool one_in(int n) { return below(n) == 0; }
  int number() { return one_in(2) ? below(64) - 8 : static_cast<int>(random_()); }
  int any_number_register() { return one_in(4) ? (one_in(2) ? 0 : 2 + below(2)) : 7 + below(3); }
  int any_register() { return one_in(12) ? below(11) : any_number_register(); }
  void add(const Instruction& one) { code_.push_back(one); }
  void add(const Code& more) { code_ = code_ + more; }

  void calculate(int dst, int src) {
    const int operation = kCalculations[below(11)];
    const bool shifts = operation == BPF_LSH || operation == BPF_RSH || operation == BPF_ARSH;
    const int constant = shifts ? below(32) : number();
    switch (below(4)) {
      case 0:
        return add(alu(operation, dst, constant));
      case 1:
        return add(alu_r(operation, dst, src));
      case 2:
        return add(alu32(operation, dst, constant));
      default:
        return add(alu32_r(operation, dst, src));
    }
  }

  void branch(int dst, int src) {
    const int operation = kComparisons[below(11)];
    const int offset = one_in(12) ? -1 - below(4) : below(5);
    switch (below(4)) {
      case 0:
        return add(jump(operation, dst, number(), offset));
      case 1:
        return add(jump_r(operation, dst, src, offset));
      case 2:
        return add(jump32(operation, dst, number(), offset));
      default:
        return add(make(BPF_JMP32 | operation | BPF_X, dst, src, offset, 0));
    }
  }

  void use_map() {
    const int map_number = below(4) < 2 ? kCounts : (one_in(2) ? kValues : kPerCpu);
    add(put(BPF_DW, 10, -8, below(6)));
    add(map(1, map_number) + Code{copy(2, 10), alu(BPF_ADD, 2, -8)});
    if (one_in(3)) {
      add({copy(3, 10), alu(BPF_ADD, 3, -16), set(4, 0), call(BPF_FUNC_map_update_elem)});
    } else if (one_in(6)) {
      add(call(BPF_FUNC_map_delete_elem));
    } else {
      add(call(BPF_FUNC_map_lookup_elem));
      if (!one_in(10)) add(jump(BPF_JEQ, 0, 0, 1 + below(3)));
      const int dst = 7 + below(2);
      switch (below(4)) {
        case 0:
          return add(load(BPF_W, dst, 0, below(20) - 2));
        case 1:
          return add({alu(BPF_AND, dst, below(16)), alu_r(BPF_ADD, 0, dst), load(BPF_B, 3, 0, 0)});
        case 2:
          return add(atomic(BPF_DW, one_in(2) ? BPF_ADD : BPF_XCHG, 0, 0, dst));
        default:
          return add(store(BPF_DW, 0, below(3) * 4, dst));
      }
    }
  }

  void use_record() {
    add(map(1, kRing) + Code{set(2, 8 + 8 * below(4)), set(3, 0), call(BPF_FUNC_ringbuf_reserve)});
    add(jump(BPF_JEQ, 0, 0, one_in(8) ? below(6) : 4));
    add({put(BPF_W, 0, below(10) * 4, 5), copy(1, 0), set(2, 0),
         call(one_in(3) ? BPF_FUNC_ringbuf_discard : BPF_FUNC_ringbuf_submit)});
  }

  void fill_stack() {
    add({copy(1, 10), alu(BPF_ADD, 1, -16 - below(8))});
    if (one_in(2)) {
      add(set(2, 1 + below(24)));
    } else {
      add({copy(2, 7), alu(BPF_AND, 2, 15)});
      if (one_in(2)) add(alu(BPF_ADD, 2, 1));
    }
    switch (below(4)) {
      case 0:
      case 1:
        return add(call(BPF_FUNC_get_current_comm));
      case 2:
        return add({copy(3, 10), call(BPF_FUNC_probe_read_kernel)});
      default:
        return read_event();
    }
  }

  // Bytes of the event where a number says, within it or not.
  void read_event() {
    add({copy(3, 6), copy(4, 7 + below(3)), alu(BPF_AND, 4, one_in(6) ? number() : 63)});
    add(alu_r(one_in(6) ? BPF_SUB : BPF_ADD, 3, 4));
    if (one_in(2)) add(alu(BPF_ADD, 3, below(24) - 8));
    if (one_in(20)) add(load(BPF_W, 5, 3, 8));
    add(call(one_in(2) ? BPF_FUNC_probe_read_kernel : BPF_FUNC_probe_read_kernel_str));
    if (one_in(2)) add({copy(7 + below(3), 0)});
  }

  void add_something() {
    const int dst = any_register(), src = any_register(), size = below(4);
    switch (below(13)) {
      case 0:
        return add(set(dst, number()));
      case 1:
        return add(copy(dst, src));
      case 2:
      case 3:
        return calculate(dst, src);
      case 4:
        return add(load(kSizes[size], dst, one_in(4) ? src : 6, 8 + (below(6) << size)));
      case 5:
        return add(one_in(2) ? store(kSizes[size], 10, -((below(6) + 1) << size), src)
                             : put(kSizes[size], 10, -((below(6) + 1) << size), number()));
      case 6:
        return add(load(kSizes[size], dst, 10, -((below(6) + 1) << size)));
      case 7:
      case 8:
        return branch(dst, src);
      case 9:
        return use_map();
      case 10:
        return use_record();
      case 11:
        return add(map_value(7 + below(3), kValues, below(18)) + Code{load(BPF_W, 2, 7 + below(3), below(16) - 2)});
      default:
        return fill_stack();
    }
  }

  // None leads out of the program, or into the middle of a constant.
  void mend_jumps() {
    const auto end = static_cast<long>(code_.size()) - 2;
    for (std::size_t i = 0; i < code_.size(); ++i) {
      Instruction& one = code_[i];
      if (one.code == bpf::kLoadConstant) {
        ++i;
        continue;
      }
      const int kind = BPF_CLASS(one.code);
      if ((kind != BPF_JMP && kind != BPF_JMP32) || one.code == bpf::kCall || one.code == bpf::kExit) continue;
      const long from = static_cast<long>(i) + 1;
      long target = std::clamp(from + one.off, 0L, end);
      if (target > 0 && code_[static_cast<std::size_t>(target) - 1].code == bpf::kLoadConstant) ++target;
      one.off = static_cast<std::int16_t>(target - from);
    }
  }

  std::mt19937_64 random_;
  Code code_;
};

inline std::string text_of(const bpf::code::Code& code) {
  std::string text;
  for (std::size_t i = 0; i < code.size(); ++i) {
    text += std::to_string(i) + ": " + disassemble(&code[i]) + "\n";
    if (code[i].code == bpf::kLoadConstant) ++i;
  }
  return text;
}

}  // namespace landtrace::verifier
