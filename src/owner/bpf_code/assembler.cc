#include "bpf_code/assembler.hpp"

#include <cstring>

namespace landtrace::bpf_code {
namespace {

constexpr unsigned number_of(Reg reg) { return static_cast<unsigned>(reg); }
constexpr bool fits_8(std::int32_t value) { return value >= -128 && value <= 127; }

}  // namespace

Assembler::Label Assembler::new_label() {
  places_.push_back(-1);
  return static_cast<Label>(places_.size() - 1);
}

std::vector<std::byte> Assembler::finish() {
  for (const Fixup& fixup : fixups_) {
    const auto distance = static_cast<std::int32_t>(places_[fixup.label] - static_cast<std::int64_t>(fixup.at) - 4);
    std::memcpy(bytes_.data() + fixup.at, &distance, sizeof distance);
  }
  return std::move(bytes_);
}

void Assembler::number(std::uint64_t value, unsigned count) {
  for (unsigned i = 0; i < count; ++i) byte(static_cast<unsigned>(value >> 8 * i & 0xff));
}

// `always`: without it a byte register above bl would be another one.
void Assembler::rex(Width width, unsigned reg, unsigned index, unsigned base, bool always) {
  const unsigned bits = (width == Width::k64 ? 8u : 0u) | reg >> 3 << 2 | index >> 3 << 1 | base >> 3;
  if (bits != 0 || always) byte(0x40 | bits);
}

void Assembler::between(Width width, std::uint8_t code, Reg reg, Reg rm) {
  rex(width, number_of(reg), 0, number_of(rm));
  byte(code);
  byte(0xc0 | (number_of(reg) & 7) << 3 | (number_of(rm) & 7));
}

void Assembler::one_operand(Width width, std::uint8_t code, std::uint8_t kind, Reg what) {
  rex(width, 0, 0, number_of(what));
  byte(code);
  byte(0xc0u | static_cast<unsigned>(kind) << 3 | (number_of(what) & 7));
}

// rsp and r12 as a base need the byte of an index; rbp and r13 a distance.
void Assembler::operand(unsigned reg, const At& at) {
  const unsigned base = number_of(at.base) & 7;
  const bool has_index = at.index != Reg::kRsp;
  const bool is_long = !fits_8(at.distance);
  const unsigned mode = at.distance == 0 && base != 5 ? 0 : (is_long ? 2 : 1);
  byte(mode << 6 | (reg & 7) << 3 | (has_index || base == 4 ? 4 : base));
  if (has_index) byte(3u << 6 | (number_of(at.index) & 7) << 3 | base);
  if (!has_index && base == 4) byte(0x24);
  if (mode != 0) number(static_cast<std::uint32_t>(at.distance), is_long ? 4 : 1);
}

void Assembler::with_memory(Width width, std::uint8_t code, Reg reg, const At& at) {
  rex(width, number_of(reg), at.index == Reg::kRsp ? 0 : number_of(at.index), number_of(at.base));
  byte(code);
  operand(number_of(reg), at);
}

void Assembler::with_memory_0f(Width width, std::uint8_t code, Reg reg, const At& at) {
  rex(width, number_of(reg), at.index == Reg::kRsp ? 0 : number_of(at.index), number_of(at.base));
  byte(0x0f);
  byte(code);
  operand(number_of(reg), at);
}

void Assembler::move_constant(Reg to, std::uint64_t value) {
  const bool is_32 = value >> 32 == 0;
  const auto as_signed = static_cast<std::int64_t>(value);
  if (!is_32 && as_signed == static_cast<std::int32_t>(as_signed)) {
    one_operand(Width::k64, 0xc7, 0, to);
    return number(value, 4);
  }
  rex(is_32 ? Width::k32 : Width::k64, 0, 0, number_of(to));
  byte(0xb8 | (number_of(to) & 7));
  number(value, is_32 ? 4 : 8);
}

void Assembler::calculate(Op op, Width width, Reg to, std::int32_t by) {
  one_operand(width, fits_8(by) ? 0x83 : 0x81, static_cast<std::uint8_t>(op), to);
  number(static_cast<std::uint32_t>(by), fits_8(by) ? 1 : 4);
}

void Assembler::calculate(Op op, Width width, const At& to, std::int32_t by) {
  with_memory(width, fits_8(by) ? 0x83 : 0x81, static_cast<Reg>(op), to);
  number(static_cast<std::uint32_t>(by), fits_8(by) ? 1 : 4);
}

void Assembler::test(Width width, Reg a, std::int32_t bits) {
  one_operand(width, 0xf7, 0, a);
  number(static_cast<std::uint32_t>(bits), 4);
}

void Assembler::multiply(Width width, Reg to, Reg by) {
  rex(width, number_of(to), 0, number_of(by));
  byte(0x0f);
  byte(0xaf);
  byte(0xc0 | (number_of(to) & 7) << 3 | (number_of(by) & 7));
}

void Assembler::multiply(Width width, Reg to, std::int32_t by) {
  between(width, 0x69, to, to);
  number(static_cast<std::uint32_t>(by), 4);
}

void Assembler::shift(Shift how, Width width, Reg what, std::uint8_t by) {
  one_operand(width, 0xc1, static_cast<std::uint8_t>(how), what);
  byte(by);
}

void Assembler::swap_bytes(Width width, Reg what) {
  rex(width, 0, 0, number_of(what));
  byte(0x0f);
  byte(0xc8 | (number_of(what) & 7));
}

void Assembler::swap_bytes_16(Reg what) {
  byte(0x66);
  one_operand(Width::k32, 0xc1, 1, what);  // ror
  byte(8);
}

void Assembler::widen_16(Reg what) {
  rex(Width::k32, number_of(what), 0, number_of(what));
  byte(0x0f);
  byte(0xb7);
  byte(0xc0 | (number_of(what) & 7) << 3 | (number_of(what) & 7));
}

void Assembler::load(std::uint32_t bytes, Reg to, const At& from) {
  if (bytes <= 2) return with_memory_0f(Width::k32, bytes == 1 ? 0xb6 : 0xb7, to, from);
  with_memory(bytes == 8 ? Width::k64 : Width::k32, 0x8b, to, from);
}

void Assembler::store(std::uint32_t bytes, const At& to, Reg from) {
  if (bytes == 2) byte(0x66);
  rex(bytes == 8 ? Width::k64 : Width::k32, number_of(from), to.index == Reg::kRsp ? 0 : number_of(to.index),
      number_of(to.base), bytes == 1);
  byte(bytes == 1 ? 0x88 : 0x89);
  operand(number_of(from), to);
}

void Assembler::store_constant(std::uint32_t bytes, const At& to, std::int32_t value) {
  if (bytes == 2) byte(0x66);
  with_memory(bytes == 8 ? Width::k64 : Width::k32, bytes == 1 ? 0xc6 : 0xc7, Reg::kRax, to);
  number(static_cast<std::uint32_t>(value), bytes == 8 ? 4 : bytes);
}

void Assembler::locked(Op op, Width width, const At& to, Reg by) {
  byte(0xf0);
  with_memory(width, static_cast<std::uint8_t>(static_cast<unsigned>(op) << 3 | 1), by, to);
}

void Assembler::locked_exchange_add(Width width, const At& what, Reg by) {
  byte(0xf0);
  with_memory_0f(width, 0xc1, by, what);
}

void Assembler::locked_compare_exchange(Width width, const At& what, Reg by) {
  byte(0xf0);
  with_memory_0f(width, 0xb1, by, what);
}

void Assembler::push(Reg what) {
  rex(Width::k32, 0, 0, number_of(what));
  byte(0x50 | (number_of(what) & 7));
}

void Assembler::pop(Reg what) {
  rex(Width::k32, 0, 0, number_of(what));
  byte(0x58 | (number_of(what) & 7));
}

void Assembler::distance_to(Label label) {
  fixups_.push_back({bytes_.size(), label});
  number(0, 4);
}

void Assembler::jump(Label where) {
  byte(0xe9);
  distance_to(where);
}

void Assembler::jump_if(Condition condition, Label where) {
  byte(0x0f);
  byte(0x80 | static_cast<unsigned>(condition));
  distance_to(where);
}

void Assembler::call(Label where) {
  byte(0xe8);
  distance_to(where);
}

void Assembler::call(const At& what) { with_memory(Width::k32, 0xff, static_cast<Reg>(2), what); }

}  // namespace landtrace::bpf_code
