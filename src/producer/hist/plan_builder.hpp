// Makes a HistPlan: who knows what a histogram is made of describes it here, and gets the bytes for the control segment.
//
//   PlanDescription what;  …                                  // keys, values, variables, references, actions
//   LT_TRY(const Shape shape, shape_of(what));                // how large its table is; where its variables lie
//   LT_TRY(const auto table, users.allocate(shape.layout.bytes));
//   LT_TRY(const auto plan, control.store(build(what, shape, table)));   // -> plan::Trigger::histogram
#pragma once

#include <span>
#include <vector>

#include "base/result.hpp"
#include "hist/layout.hpp"

namespace landtrace::hist {

// Numbers: an expression in postfix order, as in {field(0, 4), constant(2), op(OpCode::kMultiply)}.
using Expression = std::vector<Op>;
constexpr Op field(std::uint32_t offset, std::uint8_t size, bool is_signed = false) {
  return {OpCode::kField, size, is_signed, 0, offset, 0};
}
constexpr Op header(std::uint32_t offset, std::uint8_t size, bool is_signed = false) {
  return {OpCode::kHeader, size, is_signed, 0, offset, 0};
}
constexpr Op constant(std::uint64_t number) { return {OpCode::kConstant, 8, false, 0, 0, number}; }
// `clock`: CLOCK_MONOTONIC, …, or kRawClock; `divisor` 1000 for usecs.
constexpr Op timestamp(std::uint8_t clock, std::uint64_t divisor = 1) {
  return {OpCode::kTimestamp, 8, false, clock, 0, divisor};
}
constexpr Op cpu() { return {OpCode::kCpu, 8, false, 0, 0, 0}; }
constexpr Op reference(std::uint32_t index) { return {OpCode::kReference, 8, false, 0, index, 0}; }
constexpr Op variable(std::uint32_t index) { return {OpCode::kVariable, 8, false, 0, index, 0}; }
constexpr Op bucket(std::uint64_t width) { return {OpCode::kBucket, 8, false, 0, 0, width}; }
constexpr Op op(OpCode code) { return {code, 8, false, 0, 0, 0}; }  // those without operands

// Anything: a number, a text or a stack.
struct Value {
  ValueType type = ValueType::kNumber;
  Origin origin = Origin::kOps;
  Expression ops;            // kOps
  std::uint32_t index = 0;   // kReference, kVariable
  std::uint32_t offset = 0;  // kField, kDataLoc, kRelLoc: in the payload
  std::uint32_t size = 0;    // kField
};
inline Value number(Expression ops) { return {ValueType::kNumber, Origin::kOps, std::move(ops), 0, 0, 0}; }
inline Value static_text(std::uint32_t offset, std::uint32_t size) {
  return {ValueType::kText, Origin::kField, {}, 0, offset, size};
}
inline Value dynamic(ValueType type, Origin loc, std::uint32_t offset) { return {type, loc, {}, 0, offset, 0}; }
inline Value comm() { return {ValueType::kText, Origin::kComm, {}, 0, 0, 0}; }
inline Value thread_stack() { return {ValueType::kStack, Origin::kThread, {}, 0, 0, 0}; }
// Of texts and stacks; numbers are read by the ops of the same names.
inline Value of_reference(ValueType type, std::uint32_t index) { return {type, Origin::kReference, {}, index, 0, 0}; }
inline Value of_variable(ValueType type, std::uint32_t index) { return {type, Origin::kVariable, {}, index, 0, 0}; }

struct ReferenceDescription {
  std::uint64_t table = 0;  // of the other histogram
  TableLayout layout{};     // … its Shape's
  Place place{};            // … the variable's in its Shape
  bool once = false;        // unset when read: those that stand in an expression
};

struct ParamDescription {
  Value value;
  // Of kTrace: the field of the synthetic event.
  std::uint32_t at = 0;     // in its payload, a multiple of 8
  std::uint32_t size = 8;   // number: 1, 2, 4, 8; static text: all of it
  bool is_dynamic = false;  // text and stack: a __data_loc in the 8 bytes there
};

struct ActionDescription {
  Handler handler = Handler::kOnMatch;
  Deed deed = Deed::kTrace;
  Value tracked;                         // of onmax and onchange
  std::vector<ParamDescription> params;  // kTrace: the fields; kSave: what is saved
  std::uint32_t target = 0;              // kTrace: event slot; kSnapshot: the cell of the instance's flip
  std::uint32_t fixed_size = 0;          // kTrace: of the payload, dynamic bytes not counted
};

struct PlanDescription {
  std::uint32_t elements = 2048;  // a power of two, kMinElements to kMaxElements
  bool has_comm = false;          // elements remember the name of the thread that made them
  std::uint32_t pause_cell = 0;
  std::uint32_t event_pause_cell = 0;
  std::vector<Value> keys;
  std::vector<Value> values;     // numbers; the hit count is not among them
  std::vector<Value> variables;  // set in this order, after the values
  std::vector<ReferenceDescription> references;
  std::vector<ActionDescription> actions;
};

// What a table looks like. Named histograms may share one if their shapes are equal.
struct Shape {
  TableLayout layout{};
  std::vector<std::uint32_t> key_sizes;
  std::vector<Place> variables;
  struct ActionPlace {
    std::uint32_t tracked_at = 0;
    std::uint32_t taken_at = 0;
    std::uint32_t saved_at = 0;
    std::vector<Place> saved;  // kSave: one a param
    bool operator==(const ActionPlace&) const = default;
  };
  std::vector<ActionPlace> actions;
  bool operator==(const Shape&) const = default;
};

// EINVAL, E2BIG for what no plan can express: more keys than kMaxKeys, a value that is no number, an expression that does not
// leave one number or needs more than kMaxStack, references and variables that are not there, a payload that may grow
// beyond kMaxSyntheticPayload, and so on.
Result<Shape> shape_of(const PlanDescription& what);

// The bytes of the HistPlan, to lie at an address that is a multiple of 8. `shape` is that of `what`.
std::vector<std::byte> build(const PlanDescription& what, const Shape& shape, std::uint64_t table);

}  // namespace landtrace::hist
