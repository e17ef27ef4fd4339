#include "code/relocation.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace landtrace::code {
namespace {

using agent::Fixup;
using agent::FixupKind;
using agent::Recipe;

constexpr std::uint8_t kModrmRegister = 0xc0;  // mod 3
constexpr std::uint8_t kRsp = 4;               // as a register; as r/m of memory: a SIB byte follows

// Appends bytes and fixups to a recipe; says afterwards whether there was room.
class Copy {
 public:
  explicit Copy(Recipe& recipe) : recipe_(recipe) {}

  void put(Bytes bytes) {
    if (bytes.size() > agent::kMaxCopy - recipe_.copy_size) {
      fits_ = false;
      return;
    }
    std::memcpy(recipe_.copy + recipe_.copy_size, bytes.data(), bytes.size());
    recipe_.copy_size = static_cast<std::uint8_t>(recipe_.copy_size + bytes.size());
  }
  template <std::size_t N>
  void put(const std::uint8_t (&bytes)[N]) {
    put(Bytes(bytes, N));
  }
  void put_word(FixupKind kind, std::int64_t target) {
    const std::uint8_t at = recipe_.copy_size;
    put({0, 0, 0, 0});
    fix(kind, at, recipe_.copy_size, target);
  }
  void fix(FixupKind kind, std::size_t at, std::size_t next, std::int64_t target) {
    const bool is_near =
        target >= std::numeric_limits<std::int32_t>::min() && target <= std::numeric_limits<std::int32_t>::max();
    if (!is_near || recipe_.fixup_count == agent::kMaxFixups) {
      fits_ = false;
      return;
    }
    recipe_.fixups[recipe_.fixup_count++] = {.target = static_cast<std::int32_t>(target),
                                             .at = static_cast<std::uint8_t>(at),
                                             .next = static_cast<std::uint8_t>(next),
                                             .kind = kind,
                                             .reserved = 0};
  }
  [[nodiscard]] std::size_t size() const { return recipe_.copy_size; }
  [[nodiscard]] bool fits() const { return fits_; }

 private:
  Recipe& recipe_;
  bool fits_ = true;
};

void put_relative(Copy& copy, std::initializer_list<std::uint8_t> opcode, std::int64_t target) {
  copy.put(Bytes(opcode.begin(), opcode.size()));
  copy.put_word(FixupKind::kRelative32, target);
}

void put_jump(Copy& copy, std::int64_t target) { put_relative(copy, {0xe9}, target); }

// loop taken; jmp behind; taken: jmp target; behind:
void put_counter(Copy& copy, const Instruction& instruction, Bytes bytes, std::int64_t target) {
  copy.put(bytes.first(instruction.distance_at));
  copy.put({2, 0xeb, agent::kJumpSize});
  put_jump(copy, target);
}

// push the low half, which is extended to 8 bytes; store the high one. Neither changes flags.
void put_push_address(Copy& copy, std::int64_t target) {
  copy.put({0x68});
  copy.put_word(FixupKind::kLow32, target);
  copy.put({0xc7, 0x44, 0x24, 0x04});
  copy.put_word(FixupKind::kHigh32, target);
}

// Copies an instruction with an operand [rip + distance], with another /digit or opcode extension if `modrm` says so.
void put_with_relative_memory(Copy& copy, const Instruction& instruction, Bytes bytes, std::uint8_t modrm,
                              std::int64_t target) {
  const std::size_t begin = copy.size();
  copy.put(bytes.first(instruction.modrm_at));
  copy.put({modrm});
  copy.put(bytes.subspan(instruction.modrm_at + 1u));
  copy.fix(FixupKind::kRelative32, begin + instruction.distance_at, begin + bytes.size(), target);
}

// `jmp` in place of `call`, behind a push that has moved rsp by 8.
bool put_indirect_jump(Copy& copy, const Instruction& instruction, Bytes bytes, std::int64_t target) {
  const std::uint8_t modrm = bytes[instruction.modrm_at];
  const auto as_jump = static_cast<std::uint8_t>((modrm & 0xc7) | 4 << 3);
  if (instruction.has_relative_memory) {
    put_with_relative_memory(copy, instruction, bytes, as_jump, target);
    return true;
  }
  const std::uint8_t rex = instruction.modrm_at >= 2 ? bytes[instruction.modrm_at - 2u] : 0;
  const bool has_rex_b = (rex & 0xf1) == 0x41;
  const bool is_register = (modrm & kModrmRegister) == kModrmRegister;
  if (is_register && (modrm & 7) == kRsp && !has_rex_b) return false;
  const bool has_sib = !is_register && (modrm & 7) == kRsp;
  const std::uint8_t sib = has_sib ? bytes[instruction.modrm_at + 1u] : 0;
  if (!has_sib || (sib & 7) != kRsp || has_rex_b) {
    copy.put(bytes.first(instruction.modrm_at));
    copy.put({as_jump});
    copy.put(bytes.subspan(instruction.modrm_at + 1u));
    return true;
  }
  // [rsp + index * scale + distance], with 8 more.
  std::int32_t distance = 0;
  const std::size_t behind = bytes.size() - (instruction.modrm_at + 2u);
  if (behind == 1) distance = static_cast<std::int8_t>(bytes[instruction.modrm_at + 2u]);
  if (behind == 4) std::memcpy(&distance, &bytes[instruction.modrm_at + 2u], 4);
  // The push overwrites what is read, or nearly so.
  if (distance < 0 || distance > std::numeric_limits<std::int32_t>::max() - 8) return false;
  distance += 8;
  copy.put(bytes.first(instruction.modrm_at));
  copy.put({static_cast<std::uint8_t>(0x80 | 4 << 3 | kRsp), sib});
  std::uint8_t word[4];
  std::memcpy(word, &distance, 4);
  copy.put(word);
  return true;
}

bool put_call(Copy& copy, const Instruction& instruction, Bytes bytes, std::uint32_t at, std::int64_t target) {
  put_push_address(copy, std::int64_t{at} + instruction.length);
  if (instruction.flow == Flow::kCallIndirect) return put_indirect_jump(copy, instruction, bytes, target);
  put_jump(copy, target);
  return true;
}

bool put(Copy& copy, const Instruction& instruction, Bytes bytes, std::uint32_t at) {
  const std::int64_t target = std::int64_t{at} + instruction.length + instruction.distance;
  const bool is_branch = instruction.flow != Flow::kNext;
  if (is_branch && instruction.is_prefixed) return false;
  switch (instruction.flow) {
    case Flow::kTrap:
    case Flow::kUnmoved:
      return false;
    case Flow::kJump:
      put_jump(copy, target);
      return true;
    case Flow::kCondition:
      put_relative(copy, {0x0f, static_cast<std::uint8_t>(0x80 | instruction.condition)}, target);
      return true;
    case Flow::kCounter:
      put_counter(copy, instruction, bytes, target);
      return true;
    case Flow::kCall:
    case Flow::kCallIndirect:
      return put_call(copy, instruction, bytes, at, target);
    case Flow::kNext:
    case Flow::kJumpIndirect:
    case Flow::kReturn:
      break;
  }
  if (instruction.has_relative_memory) {
    put_with_relative_memory(copy, instruction, bytes, bytes[instruction.modrm_at], target);
  } else {
    copy.put(bytes);
  }
  return true;
}

}  // namespace

bool never_comes_back(const Instruction& instruction) {
  switch (instruction.flow) {
    case Flow::kJump:
    case Flow::kJumpIndirect:
    case Flow::kCall:  // it comes back to the original
    case Flow::kCallIndirect:
    case Flow::kReturn:
      return true;
    default:
      return false;
  }
}

bool append_moved(Recipe& recipe, const Instruction& instruction, Bytes bytes, std::uint32_t at) {
  Copy copy(recipe);
  return put(copy, instruction, bytes.first(instruction.length), at) && copy.fits();
}

}  // namespace landtrace::code
