// What calls a helper: its arguments by its rule, and what comes back.
#include <algorithm>
#include <cerrno>

#include "verifier/disassemble.hpp"
#include "verifier/verifier.hpp"

namespace landtrace::verifier {
namespace {

constexpr std::uint64_t kMaxMemory = 1 << 29;

}  // namespace

// `is_exact`: all of these bytes will be written, so that what stood there need not have been.
void Verifier::check_memory_argument(State& state, unsigned number, std::uint64_t size, Access access, bool is_exact) {
  const Register pointer = readable(state, number);
  if (pointer.kind == Kind::kContext) refuse(EACCES, "R{} type=ctx expected=fp, map_value, mem", number);
  if (!pointer.is_pointer()) refuse(EACCES, "R{} type={} expected=fp, map_value, mem", number, pointer.text());
  // No bytes are somewhere, too: helpers look for their place all the same, as the kernel's verifier does.
  check_access(state, number, pointer, 0, size, access);
  if (pointer.kind != Kind::kStack) return;
  const std::int64_t depth = stack_depth(number, pointer, 0, size);
  if (access == Access::kRead || !is_exact) check_stack_read(state, pointer, depth, size);
  if (access == Access::kWrite) write_stack(state, pointer, depth, size, nullptr);
}

// Memory in `number`, its size behind it.
void Verifier::check_sized(State& state, const Call& call, unsigned number) {
  const Register& size = scalar(state, number + 1, "the size of memory is a number");
  const bool may_be_zero = call.rule.arguments[number] == Argument::kSizeOrZero;
  // Of 32 bits, as helpers have it.
  const Scalar bytes = size.value;
  if (bytes.signed_least < 0) {
    refuse(EACCES, "R{} min value is negative, either use unsigned or 'var &= const'", number + 1);
  }
  if (bytes.least == 0 && !may_be_zero) refuse(EACCES, "R{} invalid zero-sized read", number + 1);
  if (bytes.most >= kMaxMemory)
    refuse(EACCES, "R{} unbounded memory access, use 'var &= const' or 'if (var < const)'", number + 1);
  const bool writes = call.rule.arguments[number - 1] == Argument::kWritten;
  check_memory_argument(state, number, bytes.most, writes ? Access::kWrite : Access::kRead, bytes.is_constant());
}

void Verifier::check_argument(State& state, Call& call, unsigned index) {
  const unsigned number = index + 1;
  const Register& reg = readable(state, number);
  switch (call.rule.arguments[index]) {
    case Argument::kNone:
    case Argument::kAnything:
    case Argument::kSize:
    case Argument::kSizeOrZero:
      return;
    case Argument::kNumber:
      scalar(state, number, "a number is expected");
      return;
    case Argument::kContext:
      if (reg.kind != Kind::kContext || reg.offset != 0 || !(reg.value == Scalar::constant(0)))
        refuse(EACCES, "R{} type={} expected=ctx", number, reg.text());
      return;
    case Argument::kMap:
      if (reg.kind != Kind::kMap) refuse(EACCES, "R{} type={} expected=map_ptr", number, reg.text());
      call.map_number = reg.which;
      call.map = &maps_[reg.which];
      if ((call.rule.map_kinds >> call.map->kind & 1) == 0) {
        refuse(EINVAL, "cannot pass map_type {} into func {}#{}", call.map->kind, call.rule.name, call.rule.number);
      }
      return;
    case Argument::kKey:
      return check_memory_argument(state, number, call.map->key_size, Access::kRead, true);
    case Argument::kValue:
      if (call.map->can_write == 0) refuse(EACCES, "write into map forbidden by its flags");
      return check_memory_argument(state, number, call.map->value_size, Access::kRead, true);
    case Argument::kRead:
    case Argument::kWritten:
      return check_sized(state, call, number);
    case Argument::kRecordSize: {
      const Register& size = scalar(state, number, "the size of a record is a constant");
      if (!size.value.is_constant()) refuse(EACCES, "R{} is not a known constant", number);
      if (size.value.least == 0 || size.value.least > kMaxMemory) refuse(EINVAL, "R{} is no size of a record", number);
      call.record_size = size.value.least;
      return;
    }
    case Argument::kRecord:
      if (reg.kind != Kind::kRecord || reg.offset != 0 || !(reg.value == Scalar::constant(0))) {
        refuse(EACCES, "R{} type={} expected=mem, as bpf_ringbuf_reserve() gave it", number, reg.text());
      }
      call.released = reg.reference;
      return;
  }
}

// Whatever was the record is nothing from here on.
void Verifier::release(State& state, std::uint32_t reference) {
  std::erase_if(state.references, [&](const Reference& one) { return one.id == reference; });
  state.for_each_register([&](Register& reg) {
    if (reg.reference == reference) reg = {};
  });
  for (Frame& frame : state.frames) {
    for (Slot& slot : frame.slots) {
      if (!slot.is_spilled || slot.spilled.kind != Kind::kNone) continue;
      slot.is_spilled = false;
      slot.bytes.fill(Slot::kInvalid);
    }
  }
}

void Verifier::call_helper(State& state, const Instruction& one) {
  const auto number = static_cast<std::uint32_t>(one.imm);
  const HelperRule* const rule = find_helper_rule(number);
  if (rule == nullptr)
    refuse(EINVAL, "unknown func {}#{}", helper_name(number).empty() ? "unknown" : helper_name(number), number);
  Call call{*rule};
  for (unsigned i = 0; i < 5 && rule->arguments[i] != Argument::kNone; ++i) check_argument(state, call, i);
  if (call.released != 0) release(state, call.released);
  auto& registers = state.frame().registers;
  for (unsigned i = 0; i <= 5; ++i) registers[i] = {};
  switch (rule->returns) {
    case Returns::kNumber:
      registers[0] = Register::unknown();
      return;
    case Returns::kMapValueOrNull:
      registers[0] = Register::pointer(Kind::kMapValueOrNull, call.map_number);
      registers[0].id = new_id();
      return;
    case Returns::kRecordOrNull:
      registers[0] = Register::pointer(Kind::kRecordOrNull, static_cast<std::uint32_t>(call.record_size));
      registers[0].id = new_id();
      registers[0].reference = registers[0].id;
      state.references.push_back({registers[0].id, state.pc});
  }
}

}  // namespace landtrace::verifier
