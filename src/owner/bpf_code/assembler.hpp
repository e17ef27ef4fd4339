// Writes x86-64 instructions: those that programs take, in 64-bit mode, jumps always with 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace landtrace::bpf_code {

enum class Reg : std::uint8_t {
  kRax,
  kRcx,
  kRdx,
  kRbx,
  kRsp,
  kRbp,
  kRsi,
  kRdi,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15
};

// Memory at a register and a distance, or with `index` eight times another register further on.
struct At {
  Reg base;
  std::int32_t distance = 0;
  // kRsp: none.
  Reg index = Reg::kRsp;
};

enum class Width : std::uint8_t { k32, k64 };

// Numbers of the instructions "op r/m, r", and of the same with a constant.
enum class Op : std::uint8_t { kAdd = 0, kOr = 1, kAnd = 4, kSub = 5, kXor = 6, kCmp = 7 };
enum class Shift : std::uint8_t { kLeft = 4, kRight = 5, kArithmetic = 7 };
// As they stand in an instruction.
enum class Condition : std::uint8_t {
  kBelow = 2,
  kNotBelow = 3,
  kEqual = 4,
  kNotEqual = 5,
  kNotAbove = 6,
  kAbove = 7,
  kLess = 12,
  kNotLess = 13,
  kNotGreater = 14,
  kGreater = 15,
};

class Assembler {
 public:
  using Label = std::uint32_t;
  Label new_label();
  // The next instruction is what the label stands for.
  void place(Label label) { places_[label] = static_cast<std::int64_t>(bytes_.size()); }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  // All labels have been placed. Nothing else is written behind this.
  std::vector<std::byte> finish();

  void move(Width width, Reg to, Reg from) { between(width, 0x89, from, to); }
  // In the shortest way that keeps flags.
  void move_constant(Reg to, std::uint64_t number);
  void calculate(Op op, Width width, Reg to, Reg by) {
    between(width, static_cast<std::uint8_t>(static_cast<unsigned>(op) << 3 | 1), by, to);
  }
  // The constant is extended by its sign.
  void calculate(Op op, Width width, Reg to, std::int32_t by);
  void calculate(Op op, Width width, Reg to, const At& by) {
    with_memory(width, static_cast<std::uint8_t>(static_cast<unsigned>(op) << 3 | 3), to, by);
  }
  void calculate(Op op, Width width, const At& to, std::int32_t by);
  void test(Width width, Reg a, Reg b) { between(width, 0x85, b, a); }
  void test(Width width, Reg a, std::int32_t bits);
  void multiply(Width width, Reg to, Reg by);
  void multiply(Width width, Reg to, std::int32_t by);
  // rdx:rax by the register: rax, and the rest in rdx.
  void divide(Width width, Reg by) { one_operand(width, 0xf7, 6, by); }
  void negate(Width width, Reg what) { one_operand(width, 0xf7, 3, what); }
  void shift(Shift how, Width width, Reg what, std::uint8_t by);
  // By cl.
  void shift(Shift how, Width width, Reg what) { one_operand(width, 0xd3, static_cast<std::uint8_t>(how), what); }
  void swap_bytes(Width width, Reg what);
  void swap_bytes_16(Reg what);
  void widen_16(Reg what);

  // Of 1, 2, 4 or 8 bytes; less than 8 are extended with zeros.
  void load(std::uint32_t bytes, Reg to, const At& from);
  void store(std::uint32_t bytes, const At& to, Reg from);
  void store_constant(std::uint32_t bytes, const At& to, std::int32_t number);
  void address_of(Reg to, const At& what) { with_memory(Width::k64, 0x8d, to, what); }

  // Atomic, of 4 or 8 bytes.
  void locked(Op op, Width width, const At& to, Reg by);
  void locked_exchange_add(Width width, const At& what, Reg by);
  void locked_compare_exchange(Width width, const At& what, Reg by);
  void exchange(Width width, const At& what, Reg by) { with_memory(width, 0x87, by, what); }

  void push(Reg what);
  void pop(Reg what);
  void jump(Label where);
  void jump_if(Condition condition, Label where);
  void call(Label where);
  void call(const At& what);
  void leave() { byte(0xc3); }
  void clear_carry() { byte(0xf8); }
  void set_carry() { byte(0xf9); }

 private:
  struct Fixup {
    std::size_t at;
    Label label;
  };
  void byte(unsigned value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void number(std::uint64_t value, unsigned count);
  void rex(Width width, unsigned reg, unsigned index, unsigned base, bool always = false);
  void between(Width width, std::uint8_t code, Reg reg, Reg rm);
  void one_operand(Width width, std::uint8_t code, std::uint8_t kind, Reg what);
  void operand(unsigned reg, const At& at);
  void with_memory(Width width, std::uint8_t code, Reg reg, const At& at);
  void with_memory_0f(Width width, std::uint8_t code, Reg reg, const At& at);
  void distance_to(Label label);

  std::vector<std::byte> bytes_;
  std::vector<std::int64_t> places_;
  std::vector<Fixup> fixups_;
};

}  // namespace landtrace::bpf_code
