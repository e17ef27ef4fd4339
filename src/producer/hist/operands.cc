#include "hist/operands.hpp"

#include <bit>

#include "hist/division.hpp"

namespace landtrace::hist {
namespace {

std::uint64_t header_number(std::uint64_t header, const Op& op) {
  const std::uint64_t number = abi::header_number(header, op.offset, op.size);
  return op.is_signed ? abi::sign_extended(number, op.size) : number;
}

// Where a dynamic field is in the payload.
abi::Location locate(const abi::Payload& payload, const Operand& operand) {
  const auto word = payload.load<std::uint32_t>(operand.offset);
  if (operand.origin == Origin::kDataLoc) return abi::in_payload(abi::data_location(word));
  return abi::in_payload(abi::rel_location(word, abi::kEntryHeaderSize + operand.offset + sizeof word));
}

std::uint32_t length_of(const char* text, std::size_t size) {
  return static_cast<std::uint32_t>(::strnlen(text, size));
}

// Above 2^63 the next power of two does not fit: the kernel's shift wraps around to 1, whose logarithm it takes.
std::uint64_t log2_of(std::uint64_t value) {
  constexpr std::uint64_t kTooLarge = 64;
  const auto bits = value == 0 ? 0 : static_cast<std::uint64_t>(std::bit_width(value - 1));
  return bits == kTooLarge ? 0 : bits;
}

// What is below 2^63 has a bit width of 63 at most: the shift does not go too far.
[[gnu::noinline]] std::uint64_t step_of(std::uint64_t value, std::uint64_t steps_log2) {
  if (value >> 63 != 0) return 0;
  const auto bits = static_cast<std::uint64_t>(std::bit_width(value));
  const std::uint64_t cut = bits > steps_log2 + 1 ? bits - steps_log2 - 1 : 0;
  return value >> cut << cut;
}

}  // namespace

std::uint64_t Operands::push(const Op& op) const {
  switch (op.code) {
    case OpCode::kField:
      return event_.payload.number(op.offset, op.size, op.is_signed);
    case OpCode::kHeader:
      return header_number(event_.header, op);
    case OpCode::kConstant:
      return op.number;
    case OpCode::kTimestamp: {
      const std::uint64_t time = event_.moment.in(op.clock);
      // Divisions by a constant are multiplications.
      return op.number == 1 ? time : op.number == 1000 ? time / 1000 : time / op.number;
    }
    case OpCode::kCpu:
      return event_.surroundings.cpu();
    case OpCode::kReference:
      return references_[op.offset].number;
    default:
      return variables_[op.offset];
  }
}

std::uint64_t Operands::compute(const Op* op, const Op* end) const {
  // The first word stands for an empty stack. plan_builder.cc has checked that it neither under- nor overflows.
  std::uint64_t stack[kMaxStack + 1];
  std::uint64_t* top = stack;
  for (; op != end; ++op) {
    switch (op->code) {
      case OpCode::kNegate:
        *top = 0 - *top;
        break;
      case OpCode::kLog2:
        *top = op->number == 0 ? log2_of(*top) : step_of(*top, op->number);
        break;
      case OpCode::kBucket:
        *top -= *top % op->number;
        break;
      case OpCode::kAdd:
        --top;
        top[0] += top[1];
        break;
      case OpCode::kSubtract:
        --top;
        top[0] -= top[1];
        break;
      case OpCode::kMultiply:
        --top;
        top[0] *= top[1];
        break;
      case OpCode::kDivide:
        --top;
        top[0] = quotient(top[0], top[1], op->number);
        break;
      default:
        *++top = push(*op);
        break;
    }
  }
  return stack[1];
}

// Where a text or stack is that lies in an element.
const std::byte* Operands::place_of(const Operand& operand) const {
  if (operand.origin == Origin::kReference) return references_[operand.index].place;
  return element_ + plan_.at<Variable>(plan_.variables)[operand.index].place.at;
}

std::uint32_t Operands::text(const Operand& operand, void* to, std::uint32_t size) const {
  auto* const out = static_cast<char*>(to);
  std::uint32_t length = 0;
  switch (operand.origin) {
    case Origin::kField:
      length = static_cast<std::uint32_t>(event_.payload.copy(operand.offset, out, std::min(operand.size, size - 1)));
      break;
    case Origin::kDataLoc:
    case Origin::kRelLoc: {
      const abi::Location where = locate(event_.payload, operand);
      length = static_cast<std::uint32_t>(
          event_.payload.copy(where.begin, out, std::min<std::uint64_t>(where.length, size - 1)));
      break;
    }
    case Origin::kComm:
      length = std::min(kCommSize, size - 1);
      std::memcpy(out, event_.surroundings.comm(), length);
      break;
    default: {
      char whole[kTextSize];
      detail::load_words(whole, place_of(operand), kTextSize);
      length = std::min(length_of(whole, kTextSize), size - 1);
      std::memcpy(out, whole, length);
      break;
    }
  }
  length = length_of(out, length);
  std::memset(out + length, 0, size - length);
  return length;
}

std::uint32_t Operands::stack(const Operand& operand, std::uint64_t* to) const {
  std::uint32_t count = 0;
  switch (operand.origin) {
    case Origin::kThread:
      count = std::min(event_.surroundings.capture_stack(to), kStackFrames);
      break;
    case Origin::kDataLoc:
    case Origin::kRelLoc: {
      const abi::Location where = locate(event_.payload, operand);
      count = static_cast<std::uint32_t>(
          event_.payload.copy(where.begin, to, std::min<std::uint64_t>(where.length, kStackSize)) / 8);
      break;
    }
    default:
      detail::load_words(to, place_of(operand), kStackSize);
      count = kStackFrames;
      break;
  }
  std::memset(to + count, 0, (kStackFrames - count) * sizeof *to);
  while (count > 0 && to[count - 1] == 0) --count;
  return count;
}

}  // namespace landtrace::hist
