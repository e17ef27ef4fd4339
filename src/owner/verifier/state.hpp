// What the verifier knows at one point of a program: registers, stacks, and what is held.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "verifier/bpf_names.hpp"
#include "verifier/scalar.hpp"

namespace landtrace::verifier {

enum class Kind : std::uint8_t {
  kNone,  // nothing was written to it
  kScalar,
  kContext,
  kStack,
  kMap,  // the map itself
  kMapValue,
  kMapValueOrNull,
  kRecord,  // of a ring buffer
  kRecordOrNull,
};

struct Register {
  Kind kind = Kind::kNone;
  // A pointer's fixed part; what was added to it is in `value`.
  std::int32_t offset = 0;
  Scalar value;
  // kMap, kMapValue…: the map's number; kStack: the frame's; kRecord…: bytes.
  std::uint32_t which = 0;
  // Scalars and pointers that may be null: all that have the same one are the same.
  std::uint32_t id = 0;
  // kRecord…: the reference that it is.
  std::uint32_t reference = 0;
  bool operator==(const Register&) const = default;

  static Register scalar(const Scalar& value) { return {Kind::kScalar, 0, value}; }
  static Register unknown(std::uint32_t bytes = 8) { return scalar(Scalar::of_size(bytes)); }
  static Register pointer(Kind kind, std::uint32_t which = 0) { return {kind, 0, Scalar::constant(0), which}; }

  [[nodiscard]] bool is_scalar() const { return kind == Kind::kScalar; }
  [[nodiscard]] bool is_pointer() const { return kind > Kind::kScalar; }
  [[nodiscard]] bool may_be_null() const { return kind == Kind::kMapValueOrNull || kind == Kind::kRecordOrNull; }
  [[nodiscard]] bool is_zero() const { return is_scalar() && value.is_constant() && value.least == 0; }
  [[nodiscard]] std::string text() const;
};

// Eight bytes of a stack.
struct Slot {
  enum Byte : std::uint8_t { kInvalid, kMisc, kZero };
  std::array<Byte, 8> bytes{};
  // All eight are this register's; `bytes` are kMisc then.
  bool is_spilled = false;
  Register spilled;
};

struct Frame {
  std::array<Register, kRegisters> registers;
  // The first one lies right below the frame pointer.
  std::vector<Slot> slots;
  // Where the caller goes on.
  std::uint32_t return_to = 0;

  Slot& slot(std::uint32_t index) {
    if (slots.size() <= index) slots.resize(index + 1);
    return slots[index];
  }
};

struct Reference {
  std::uint32_t id;
  std::uint32_t taken_at;
};

struct State {
  std::uint32_t pc = 0;
  std::vector<Frame> frames;
  std::vector<Reference> references;

  [[nodiscard]] Frame& frame() { return frames.back(); }
  [[nodiscard]] const Frame& frame() const { return frames.back(); }
  [[nodiscard]] std::string text() const;
  // Of memory.
  [[nodiscard]] std::size_t bytes() const;

  template <typename Change>
  void for_each_register(const Change& change) {
    for (Frame& one : frames) {
      for (Register& reg : one.registers) change(reg);
      for (Slot& slot : one.slots) {
        if (slot.is_spilled) change(slot.spilled);
      }
    }
  }
};

// Registers that are read before they are written, by instruction: a bit each.
using LiveRegisters = std::vector<std::uint16_t>;

// Whether all that can come of `next` has come of `seen`: both are at the same instruction. `exactly`: they are the
// same in all that is looked at from here on. `steps` grows by what it took to find out: some nanoseconds each.
bool covers(const State& seen, const State& next, const LiveRegisters& live, bool exactly, std::uint64_t& steps);

}  // namespace landtrace::verifier
