// What reads and writes: each access within what its pointer leads to.
#include <algorithm>
#include <cerrno>

#include "verifier/verifier.hpp"

namespace landtrace::verifier {

void Verifier::check_range(unsigned number, const Register& pointer, std::int64_t at, std::uint64_t size,
                           std::uint64_t limit, const char* what) {
  const std::int64_t least = at + pointer.value.signed_least;
  const std::int64_t most = at + pointer.value.signed_most;
  if (least < 0) {
    refuse(EACCES, "invalid access to {}, {}={} off={} size={}: R{} min value is negative", what, "value_size", limit,
           least, size, number);
  }
  if (static_cast<std::uint64_t>(most) + size > limit) {
    refuse(EACCES,
           "invalid access to {}, value_size={} off={} size={}: R{} max value is outside of the allowed memory range",
           what, limit, most, size, number);
  }
}

void Verifier::check_context(const Register& pointer, std::int64_t at, std::uint64_t size, Access access) {
  if (access == Access::kWrite) refuse(EACCES, "cannot write into ctx: off={} size={}", at, size);
  if (!pointer.value.is_constant()) refuse(EACCES, "variable ctx access var_off={}", pointer.value.text());
  const bool is_whole = size == 1 || size == 2 || size == 4 || size == 8;
  const std::int64_t end = at + static_cast<std::int64_t>(size);
  const bool is_inside =
      at >= std::int64_t{bpf::context_begin(context_)} && end <= std::int64_t{bpf::context_end(context_)};
  if (!is_inside || !is_whole || at % static_cast<std::int64_t>(size) != 0) {
    refuse(EACCES, "invalid bpf_context access off={} size={}", at, size);
  }
  verdict_.context_end = std::max(verdict_.context_end, static_cast<std::uint32_t>(end));
}

std::int64_t Verifier::stack_depth(unsigned number, const Register& pointer, std::int64_t fixed, std::uint64_t size) {
  const std::int64_t at = pointer.offset + pointer.value.signed_least + fixed;
  const auto frame_size = std::int64_t{kFrameSize};
  if (at < -frame_size || at >= 0 || at + static_cast<std::int64_t>(size) > 0) {
    refuse(EACCES, "invalid stack access off={} size={} by R{}", at, size, number);
  }
  return -at;
}

void Verifier::check_access(State& state, unsigned number, const Register& pointer, std::int64_t fixed,
                            std::uint64_t size, Access access) {
  const std::int64_t at = pointer.offset + fixed;
  switch (pointer.kind) {
    case Kind::kContext:
      return check_context(pointer, at, size, access);
    case Kind::kStack:
      stack_depth(number, pointer, fixed, size);
      return;
    case Kind::kMapValue: {
      const MapLayout& map = maps_[pointer.which];
      if (access == Access::kWrite && map.can_write == 0) {
        refuse(EACCES, "write into map forbidden, value_size={} off={} size={}", map.value_size, at, size);
      }
      return check_range(number, pointer, at, size, map.value_size, "map value");
    }
    case Kind::kRecord:
      return check_range(number, pointer, at, size, pointer.which, "memory");
    case Kind::kMapValueOrNull:
    case Kind::kRecordOrNull:
      refuse(EACCES, "R{} invalid mem access '{}': compare it with 0 first", number, pointer.text());
    default:
      refuse(EACCES, "R{} invalid mem access '{}'", number, pointer.text());
  }
  static_cast<void>(state);
}

// -- the stack ------------------------------------------------------------------------------------------------------

namespace {

struct Place {
  std::uint32_t slot;
  unsigned byte;
};
// Of the byte that lies `depth` below the frame pointer.
Place place_of(std::int64_t depth) {
  const auto index = static_cast<std::uint32_t>(depth - 1);
  return {index / 8, 7 - index % 8};
}

}  // namespace

void Verifier::check_stack_read(State& state, const Register& pointer, std::int64_t depth, std::uint64_t size) {
  Frame& frame = state.frames[pointer.which];
  for (std::uint64_t i = 0; i < size; ++i) {
    const Place place = place_of(depth - static_cast<std::int64_t>(i));
    const Slot& slot = frame.slot(place.slot);
    if (slot.is_spilled && slot.spilled.is_pointer()) {
      refuse(EACCES, "invalid read from stack off {}: the bytes of a spilled pointer ({})", -depth,
             slot.spilled.text());
    }
    if (!slot.is_spilled && slot.bytes[place.byte] == Slot::kInvalid) {
      refuse(EACCES, "invalid read from stack off {}+{} size {}: nothing was written there", -depth, i, size);
    }
  }
}

Register Verifier::read_stack(State& state, const Register& pointer, std::int64_t depth, std::uint64_t size) {
  Frame& frame = state.frames[pointer.which];
  const Slot& whole = frame.slot(place_of(depth).slot);
  if (size == 8 && depth % 8 == 0 && whole.is_spilled) return whole.spilled;
  check_stack_read(state, pointer, depth, size);
  bool is_zero = true;
  for (std::uint64_t i = 0; i < size; ++i) {
    const Place place = place_of(depth - static_cast<std::int64_t>(i));
    const Slot& slot = frame.slot(place.slot);
    is_zero &= slot.is_spilled ? slot.spilled.is_zero() : slot.bytes[place.byte] == Slot::kZero;
  }
  return is_zero ? Register::scalar(Scalar::constant(0)) : Register::unknown(static_cast<std::uint32_t>(size));
}

// nullptr: whatever bytes.
void Verifier::write_stack(State& state, const Register& pointer, std::int64_t depth, std::uint64_t size,
                           const Register* value) {
  Frame& frame = state.frames[pointer.which];
  if (value != nullptr && size == 8 && depth % 8 == 0) {
    Slot& slot = frame.slot(place_of(depth).slot);
    slot.bytes.fill(Slot::kMisc);
    slot.is_spilled = true;
    slot.spilled = *value;
    return;
  }
  const bool is_zero = value != nullptr && value->is_zero();
  for (std::uint64_t i = 0; i < size; ++i) {
    const Place place = place_of(depth - static_cast<std::int64_t>(i));
    Slot& slot = frame.slot(place.slot);
    if (slot.is_spilled) {
      // A pointer of which only some bytes are left is no pointer, and nothing that may be read.
      slot.bytes.fill(slot.spilled.is_pointer() ? Slot::kInvalid : Slot::kMisc);
      slot.is_spilled = false;
      slot.spilled = {};
    }
    slot.bytes[place.byte] = is_zero ? Slot::kZero : Slot::kMisc;
  }
}

// -- instructions ---------------------------------------------------------------------------------------------------

void Verifier::load(State& state, const Instruction& one) {
  const Register pointer = readable(state, one.src_reg);
  const std::uint32_t size = access_size(one.code);
  check_access(state, one.src_reg, pointer, one.off, size, Access::kRead);
  Register result = Register::unknown(size);
  if (pointer.kind == Kind::kStack) {
    const std::int64_t depth = stack_depth(one.src_reg, pointer, one.off, size);
    if (depth % size != 0) refuse(EACCES, "misaligned stack access off={} size={}", -depth, size);
    result = read_stack(state, pointer, depth, size);
  }
  state.frame().registers[one.dst_reg] = result;
}

void Verifier::store(State& state, const Instruction& one) {
  const Register pointer = readable(state, one.dst_reg);
  const auto number = static_cast<std::uint64_t>(std::int64_t{one.imm});
  const bool is_constant = BPF_CLASS(one.code) == BPF_ST;
  Register value = is_constant ? Register::scalar(Scalar::constant(number)) : readable(state, one.src_reg);
  const std::uint32_t size = access_size(one.code);
  check_access(state, one.dst_reg, pointer, one.off, size, Access::kWrite);
  if (pointer.kind != Kind::kStack) {
    if (value.is_pointer()) refuse(EACCES, "R{} leaks addr into {}", unsigned{one.src_reg}, pointer.text());
    return;
  }
  const std::int64_t depth = stack_depth(one.dst_reg, pointer, one.off, size);
  if (depth % size != 0) refuse(EACCES, "misaligned stack access off={} size={}", -depth, size);
  if (value.is_pointer() && size != 8)
    refuse(EACCES, "invalid size of register spill: {} bytes of {}", size, value.text());
  // A pointer to a stack must not outlive it: deeper frames' stay in their own.
  if (value.kind == Kind::kStack && value.which > pointer.which) {
    refuse(EACCES, "cannot spill pointers to stack into stack frame of the caller");
  }
  write_stack(state, pointer, depth, size, &value);
}

void Verifier::store_atomically(State& state, const Instruction& one) {
  const Register pointer = readable(state, one.dst_reg);
  scalar(state, one.src_reg, "an atomic operation takes a number");
  const std::uint32_t size = access_size(one.code);
  if (one.imm == BPF_CMPXCHG) scalar(state, 0, "BPF_CMPXCHG compares numbers");
  if (pointer.kind == Kind::kContext)
    refuse(EACCES, "BPF_ATOMIC stores into R{} ctx is not allowed", unsigned{one.dst_reg});
  check_access(state, one.dst_reg, pointer, one.off, size, Access::kWrite);
  const std::int64_t at = pointer.offset + one.off;
  const bool may_be_odd = ((pointer.value.bits.unknown | pointer.value.bits.value) & (size - 1)) != 0;
  if (at % size != 0 || may_be_odd) refuse(EACCES, "misaligned atomic access off={} size={}", at, size);
  if (pointer.kind == Kind::kStack) {
    const std::int64_t depth = stack_depth(one.dst_reg, pointer, one.off, size);
    check_stack_read(state, pointer, depth, size);
    write_stack(state, pointer, depth, size, nullptr);
  }
  if (one.imm == BPF_CMPXCHG) {
    state.frame().registers[0] = Register::unknown(size);
  } else if ((one.imm & BPF_FETCH) != 0) {
    state.frame().registers[one.src_reg] = Register::unknown(size);
  }
}

}  // namespace landtrace::verifier
