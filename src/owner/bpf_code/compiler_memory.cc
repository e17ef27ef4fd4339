// What loads and stores.
#include <linux/bpf.h>

#include <cstdint>
#include <iterator>
#include <utility>

#include "bpf_code/compiler.hpp"

namespace landtrace::bpf_code {

using bpf::Instruction;

namespace {

constexpr std::int32_t kFrame = bpf::kFrameSize;

bool is_in_frame(std::int64_t distance, std::uint32_t size) { return distance >= -kFrame && distance + size <= 0; }

}  // namespace

void Compiler::load_frame_end(Reg to) {
  has_subprograms_ ? out_.load(8, to, in_machine::kFrameEnd) : out_.move(Width::k64, to, kMachine);
}

void Compiler::load_frame_address(Reg to) {
  if (has_subprograms_) return out_.load(8, to, in_machine::kFrameAddress);
  out_.move_constant(to, bpf::window_address(bpf::kStackWindow, bpf::kFrameSize));
}

At Compiler::place_of(std::uint32_t pc, unsigned reg, std::int32_t offset, std::uint32_t size, Access access) {
  if (reg == bpf::kFramePointer && is_in_frame(offset, size)) {
    if (!has_subprograms_) return {kMachine, offset};
    load_frame_end(Reg::kR10);
    return {Reg::kR10, offset};
  }
  const Hint hint = hints_.at(pc, reg);
  using Kind = Hint::Kind;
  if (hint.kind == Kind::kFrame && reg != bpf::kFramePointer && is_in_frame(std::int64_t{hint.number} + offset, size))
    return behind_frame_pointer(hint, reg, offset, size, access);
  if (hint.kind == Kind::kContext && access == Access::kRead && hint.number + offset >= context_begin_)
    return in_context(hint, reg, offset, size);
  if (hint.kind != Kind::kWindow) return find_window(reg, offset, size, access);
  const auto window = static_cast<std::uint32_t>(hint.number);
  if (window >= bpf::kFirstMapWindow) return in_map(window - bpf::kFirstMapWindow, reg, offset, size, access);
  if (window == bpf::kStackWindow) return in_stack(reg, offset, size, access);
  return in_machine_window(window, reg, offset, size, access);
}

// The frame is the program's whatever it does: what is in it by the pointer's distance needs no other check.
At Compiler::behind_frame_pointer(const Hint& hint, unsigned reg, std::int32_t offset, std::uint32_t size,
                                  Access access) {
  const Detour detour{out_.new_label(), out_.new_label(), reg, offset, size, access, hint.number + offset};
  out_.address_of(Reg::kR10, {value_of(reg, Reg::kR10), -hint.number});
  load_frame_address(Reg::kR11);
  out_.calculate(Op::kCmp, Width::k64, Reg::kR10, Reg::kR11);
  out_.jump_if(Condition::kNotEqual, detour.from);
  load_frame_end(Reg::kR10);
  out_.place(detour.back);
  detours_.push_back(detour);
  return {Reg::kR10, detour.less};
}

At Compiler::in_context(const Hint& hint, unsigned reg, std::int32_t offset, std::uint32_t size) {
  const std::int32_t begin = hint.number + offset - context_begin_;
  const Detour detour{out_.new_label(), out_.new_label(), reg, offset, size, Access::kRead, begin};
  const auto expected = context() + static_cast<std::uint64_t>(std::int64_t{hint.number});
  out_.move_constant(Reg::kR11, expected);
  out_.calculate(Op::kCmp, Width::k64, value_of(reg, Reg::kR10), Reg::kR11);
  out_.jump_if(Condition::kNotEqual, detour.from);
  out_.calculate(Op::kCmp, Width::k64, in_machine::window(bpf::kContextWindow, offsetof(bpf::Window, size)),
                 begin + static_cast<std::int32_t>(size));
  out_.jump_if(Condition::kBelow, detour.from);
  out_.load(8, Reg::kR10, in_machine::window(bpf::kContextWindow, offsetof(bpf::Window, base)));
  out_.place(detour.back);
  detours_.push_back(detour);
  return {Reg::kR10, begin};
}

// No window is as large as what lies between two of them: a distance below its size is in this one.
void Compiler::load_distance(std::uint32_t window, unsigned reg, std::int32_t offset) {
  const Reg pointer = value_of(reg, Reg::kR11);
  out_.move_constant(Reg::kR10, static_cast<std::uint64_t>(std::int64_t{offset}) - bpf::window_address(window));
  out_.calculate(Op::kAdd, Width::k64, Reg::kR10, pointer);
}

void Compiler::check_distance(std::uint64_t window_bytes, std::uint32_t size, Label outside) {
  out_.calculate(Op::kCmp, Width::k64, Reg::kR10, static_cast<std::int32_t>(window_bytes - size));
  out_.jump_if(Condition::kAbove, outside);
}

At Compiler::in_machine_window(std::uint32_t window, unsigned reg, std::int32_t offset, std::uint32_t size,
                               Access access) {
  const bool is_context = window == bpf::kContextWindow;
  if (is_context ? access == Access::kWrite : !has_records_) return find_window(reg, offset, size, access);
  const Detour detour{out_.new_label(), out_.new_label(), reg, offset, size, access, 0};
  load_distance(window, reg, offset);
  out_.load(8, Reg::kR11, in_machine::window(window, offsetof(bpf::Window, size)));
  out_.calculate(Op::kSub, Width::k64, Reg::kR11, static_cast<std::int32_t>(size));
  out_.jump_if(Condition::kBelow, detour.from);
  out_.calculate(Op::kCmp, Width::k64, Reg::kR10, Reg::kR11);
  out_.jump_if(Condition::kAbove, detour.from);
  out_.calculate(Op::kAdd, Width::k64, Reg::kR10, in_machine::window(window, offsetof(bpf::Window, base)));
  out_.place(detour.back);
  detours_.push_back(detour);
  return {Reg::kR10};
}

At Compiler::in_map(std::uint32_t number, unsigned reg, std::int32_t offset, std::uint32_t size, Access access) {
  const bpf::MapLayout& map = maps_[number];
  const bool is_allowed = map.window_bytes >= size && (access == Access::kRead || map.can_write != 0);
  if (!is_allowed || map.window_bytes > INT32_MAX) return find_window(reg, offset, size, access);
  const Detour detour{out_.new_label(), out_.new_label(), reg, offset, size, access, 0};
  load_distance(bpf::kFirstMapWindow + number, reg, offset);
  check_distance(map.window_bytes, size, detour.from);
  out_.move_constant(Reg::kR11, map.place + map.window_at);
  out_.calculate(Op::kAdd, Width::k64, Reg::kR10, in_machine::kData);
  out_.calculate(Op::kAdd, Width::k64, Reg::kR10, Reg::kR11);
  out_.place(detour.back);
  detours_.push_back(detour);
  return {Reg::kR10};
}

At Compiler::in_stack(unsigned reg, std::int32_t offset, std::uint32_t size, Access access) {
  if (has_subprograms_) return find_window(reg, offset, size, access);
  const Detour detour{out_.new_label(), out_.new_label(), reg, offset, size, access, -kFrame};
  load_distance(bpf::kStackWindow, reg, offset);
  check_distance(bpf::kFrameSize, size, detour.from);
  out_.calculate(Op::kAdd, Width::k64, Reg::kR10, kMachine);
  out_.place(detour.back);
  detours_.push_back(detour);
  return {Reg::kR10, detour.less};
}

At Compiler::find_window(unsigned reg, std::int32_t offset, std::uint32_t size, Access access) {
  out_.address_of(Reg::kR10, {value_of(reg, Reg::kR10), offset});
  out_.move_constant(Reg::kR11, size);
  out_.call(access == Access::kRead ? read_window_ : write_window_);
  out_.jump_if(Condition::kBelow, stop_);
  return {Reg::kR10};
}

// r10: the program's pointer, then the place that it means. r11: bytes. Carry: it is in no window; the run has ended.
// All that the program has in registers stays.
void Compiler::write_window_search(Label label, std::uint32_t finder) {
  constexpr Reg kSpoilt[] = {Reg::kRax, Reg::kRsi, Reg::kRdx, Reg::kRcx, Reg::kR8, Reg::kR9};
  out_.place(label);
  for (const Reg reg : kSpoilt) out_.push(reg);
  // With the return address that makes the stack uneven.
  static_assert(std::size(kSpoilt) % 2 == 0);
  out_.calculate(Op::kSub, Width::k64, Reg::kRsp, 8);
  out_.move(Width::k64, Reg::kRdi, kMachine);
  out_.move(Width::k64, Reg::kRsi, Reg::kR10);
  out_.move(Width::k64, Reg::kRdx, Reg::kR11);
  out_.load(8, Reg::kR10, in_machine::kHelpers);
  out_.call({Reg::kR10, static_cast<std::int32_t>(finder * sizeof(bpf::Helper))});
  out_.move(Width::k64, Reg::kR10, Reg::kRax);
  out_.calculate(Op::kAdd, Width::k64, Reg::kRsp, 8);
  for (auto reg = std::rbegin(kSpoilt); reg != std::rend(kSpoilt); ++reg) out_.pop(*reg);
  out_.calculate(Op::kCmp, Width::k64, Reg::kR10, 1);
  out_.leave();
}

void Compiler::load(std::uint32_t pc) {
  const Instruction& one = code_[pc];
  const std::uint32_t size = bpf::access_size(one.code);
  const At from = place_of(pc, one.src_reg, one.off, size, Access::kRead);
  out_.load(size, value_of(one.dst_reg, Reg::kR11), from);
}

void Compiler::store(std::uint32_t pc) {
  const Instruction& one = code_[pc];
  const std::uint32_t size = bpf::access_size(one.code);
  const At to = place_of(pc, one.dst_reg, one.off, size, Access::kWrite);
  if (BPF_CLASS(one.code) == BPF_ST) return out_.store_constant(size, to, one.imm);
  out_.store(size, to, value_of(one.src_reg, Reg::kR11));
}

// The pointer must be aligned. It is where its place is: windows that can be written to begin at whole words.
void Compiler::change(std::uint32_t pc) {
  const Instruction& one = code_[pc];
  const Width width = BPF_SIZE(one.code) == BPF_DW ? Width::k64 : Width::k32;
  const std::uint32_t size = bpf::access_size(one.code);
  const auto low_bits = static_cast<std::int32_t>(size - 1);
  At at = place_of(pc, one.dst_reg, one.off, size, Access::kWrite);
  if (at.distance != 0) out_.address_of(Reg::kR10, std::exchange(at, {Reg::kR10}));
  out_.test(Width::k32, Reg::kR10, low_bits);
  out_.jump_if(Condition::kNotEqual, fault_);
  const bool fetches = (one.imm & BPF_FETCH) != 0;
  const auto simple = [&](Op op) {
    if (fetches) return fetch_and(op, width, at, one.src_reg);
    out_.locked(op, width, at, value_of(one.src_reg, Reg::kR11));
  };
  switch (one.imm & ~BPF_FETCH) {
    case BPF_ADD:
      if (fetches) return out_.locked_exchange_add(width, at, value_of(one.src_reg, Reg::kR11));
      return simple(Op::kAdd);
    case BPF_OR:
      return simple(Op::kOr);
    case BPF_AND:
      return simple(Op::kAnd);
    case BPF_XOR:
      return simple(Op::kXor);
    case BPF_XCHG & ~BPF_FETCH:
      return out_.exchange(width, at, value_of(one.src_reg, Reg::kR11));
    default:
      out_.locked_compare_exchange(width, at, value_of(one.src_reg, Reg::kR11));
      // Where the two were the same nothing was loaded.
      if (width == Width::k32) out_.move(width, Reg::kRax, Reg::kRax);
  }
}

// By compare-and-swap, which wants rax; the program's is in rdi meanwhile.
void Compiler::fetch_and(Op op, Width width, const At& at, unsigned source) {
  const Label again = out_.new_label();
  const Reg by = source == 0 ? Reg::kRdi : value_of(source, Reg::kR11);
  out_.move(Width::k64, Reg::kRdi, Reg::kRax);
  out_.load(width == Width::k64 ? 8 : 4, Reg::kRax, at);
  out_.place(again);
  out_.move(width, Reg::kR11, Reg::kRax);
  out_.calculate(op, width, Reg::kR11, by);
  out_.locked_compare_exchange(width, at, Reg::kR11);
  out_.jump_if(Condition::kNotEqual, again);
  out_.move(width, Reg::kR11, Reg::kRax);
  out_.move(Width::k64, Reg::kRax, Reg::kRdi);
  out_.move(Width::k64, value_of(source, Reg::kR10), Reg::kR11);
}

}  // namespace landtrace::bpf_code
