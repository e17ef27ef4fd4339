// What the operands of a plan are at one event: numbers, texts, stacks.
#pragma once

#include "hist/evaluate.hpp"
#include "hist/table.hpp"

namespace landtrace::hist {

class Operands {
 public:
  Operands(const HistPlan& plan, const Event& event)
      : plan_(plan), event_(event) {}  // NOLINT: arrays are filled as used

  // -- what they may refer to -------------------------------------------------------------------------------------
  void set_reference(std::uint32_t index, std::uint64_t number) { references_[index].number = number; }
  void set_reference(std::uint32_t index, const std::byte* place) { references_[index].place = place; }
  void set_variable(std::uint32_t index, std::uint64_t number) { variables_[index] = number; }
  // Where the own variables lie that are texts and stacks, once there is an element.
  void set_element(std::byte* element) { element_ = element; }

  // -- what they are ----------------------------------------------------------------------------------------------
  [[nodiscard]] std::uint64_t number(const Operand& operand) const {
    const Op* const ops = plan_.at<Op>(plan_.ops) + operand.index;
    if (__builtin_expect(operand.size != 1, 0)) return compute(ops, ops + operand.size);
    if (__builtin_expect(ops->code == OpCode::kField, 1)) {
      return event_.payload.number(ops->offset, ops->size, ops->is_signed);
    }
    return ops->code == OpCode::kVariable ? variables_[ops->offset] : push(*ops);
  }
  // The text, at most `size` - 1 bytes long, and NULs up to `size`. Returns its length.
  std::uint32_t text(const Operand& operand, void* to, std::uint32_t size) const;
  // The addresses, and zeros up to kStackFrames. Returns how many there are.
  std::uint32_t stack(const Operand& operand, std::uint64_t* to) const;

 private:
  [[nodiscard]] std::uint64_t compute(const Op* op, const Op* end) const;
  [[nodiscard]] std::uint64_t push(const Op& op) const;
  [[nodiscard]] const std::byte* place_of(const Operand& operand) const;

  union Referred {
    std::uint64_t number;
    const std::byte* place;
  };

  const HistPlan& plan_;
  const Event& event_;
  std::byte* element_ = nullptr;
  Referred references_[kMaxReferences];
  std::uint64_t variables_[kMaxVariables];
};

}  // namespace landtrace::hist
