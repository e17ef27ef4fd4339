// Makes a hist::HistPlan: the caller describes a histogram, and gets the bytes for the control segment.
//
//   HistPlanDescription what;  …                                  // keys, values, variables, references, actions
//   LT_TRY(const TableShape shape, shape_of(what));                // how large its table is; where its variables lie
//   LT_TRY(const auto table, users.allocate(shape.layout.bytes));
//   LT_TRY(const auto plan, control.store(build_hist_plan(what, shape, table)));   // -> plan::Trigger::histogram
#pragma once

#include <bit>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "hist/division.hpp"
#include "hist/layout.hpp"

namespace landtrace::language {

// Numbers: an expression in postfix order, as in {field(0, 4), constant(2), op(hist::OpCode::kMultiply)}.
using HistExpression = std::vector<hist::Op>;
namespace ops {

constexpr hist::Op field(std::uint32_t offset, std::uint8_t size, bool is_signed = false) {
  return {hist::OpCode::kField, size, is_signed, 0, offset, 0};
}
constexpr hist::Op header(std::uint32_t offset, std::uint8_t size, bool is_signed = false) {
  return {hist::OpCode::kHeader, size, is_signed, 0, offset, 0};
}
constexpr hist::Op constant(std::uint64_t number) { return {hist::OpCode::kConstant, 8, false, 0, 0, number}; }
// `clock`: CLOCK_MONOTONIC, …, or hist::kRawClock; `divisor` 1000 for usecs.
constexpr hist::Op timestamp(std::uint8_t clock, std::uint64_t divisor = 1) {
  return {hist::OpCode::kTimestamp, 8, false, clock, 0, divisor};
}
constexpr hist::Op cpu() { return {hist::OpCode::kCpu, 8, false, 0, 0, 0}; }
constexpr hist::Op reference(std::uint32_t index) { return {hist::OpCode::kReference, 8, false, 0, index, 0}; }
constexpr hist::Op variable(std::uint32_t index) { return {hist::OpCode::kVariable, 8, false, 0, index, 0}; }
// `steps` for each power of two: a power of two itself.
constexpr hist::Op steps(std::uint64_t steps) {
  return {hist::OpCode::kLog2, 8, false, 0, 0, static_cast<std::uint64_t>(std::bit_width(steps)) - 1};
}
constexpr hist::Op bucket(std::uint64_t width) { return {hist::OpCode::kBucket, 8, false, 0, 0, width}; }
// `divisor`: where it is known, what the topmost number is; else 0.
constexpr hist::Op divide(std::uint64_t divisor) {
  return {hist::OpCode::kDivide, 8, false, 0, 0, hist::division_factor(divisor)};
}
constexpr hist::Op op(hist::OpCode code) { return {code, 8, false, 0, 0, 0}; }  // those without operands

}  // namespace ops

// A number, a text or a stack.
struct HistValue {
  hist::ValueType type = hist::ValueType::kNumber;
  hist::Origin origin = hist::Origin::kOps;
  HistExpression ops;        // kOps
  std::uint32_t index = 0;   // kReference, kVariable
  std::uint32_t offset = 0;  // kField, kDataLoc, kRelLoc: in the payload
  std::uint32_t size = 0;    // kField
};

namespace values {

inline HistValue number(HistExpression ops) {
  return {hist::ValueType::kNumber, hist::Origin::kOps, std::move(ops), 0, 0, 0};
}
inline HistValue static_text(std::uint32_t offset, std::uint32_t size) {
  return {hist::ValueType::kText, hist::Origin::kField, {}, 0, offset, size};
}
inline HistValue dynamic(hist::ValueType type, hist::Origin loc, std::uint32_t offset) {
  return {type, loc, {}, 0, offset, 0};
}
inline HistValue comm() { return {hist::ValueType::kText, hist::Origin::kComm, {}, 0, 0, 0}; }
inline HistValue thread_stack() { return {hist::ValueType::kStack, hist::Origin::kThread, {}, 0, 0, 0}; }
// Of texts and stacks; numbers are read by the ops of the same names.
inline HistValue of_reference(hist::ValueType type, std::uint32_t index) {
  return {type, hist::Origin::kReference, {}, index, 0, 0};
}
inline HistValue of_variable(hist::ValueType type, std::uint32_t index) {
  return {type, hist::Origin::kVariable, {}, index, 0, 0};
}

}  // namespace values

struct HistReferenceDescription {
  std::uint64_t table = 0;     // of the other histogram
  hist::TableLayout layout{};  // … its TableShape's
  hist::Place place{};         // … the variable's in its TableShape
  bool once = false;           // unset when read: those that stand in an expression
};

struct HistParamDescription {
  HistValue value;
  // Of kTrace: the field of the synthetic event.
  std::uint32_t at = 0;     // in its payload, a multiple of 8
  std::uint32_t size = 8;   // number: 1, 2, 4, 8; static text: all of it
  bool is_dynamic = false;  // text and stack: a __data_loc in the 8 bytes there
};

struct HistActionDescription {
  hist::Handler handler = hist::Handler::kOnMatch;
  hist::Deed deed = hist::Deed::kTrace;
  HistValue tracked;                         // of onmax and onchange
  std::vector<HistParamDescription> params;  // kTrace: the fields; kSave: what is saved
  std::uint32_t target = 0;                  // kTrace: event slot; kSnapshot: the cell of the instance's flip
  std::uint32_t fixed_size = 0;              // kTrace: of the payload, dynamic bytes not counted
};

struct HistPlanDescription {
  std::uint32_t elements = 2048;  // a power of two, hist::kMinElements to hist::kMaxElements
  bool has_comm = false;          // elements remember the name of the thread that made them
  std::uint32_t pause_cell = 0;
  std::uint32_t event_pause_cell = 0;
  std::vector<HistValue> keys;
  std::vector<HistValue> values;     // numbers; the hit count is not among them
  std::vector<HistValue> variables;  // set in this order, after the values
  std::vector<HistReferenceDescription> references;
  std::vector<HistActionDescription> actions;
};

// What a table looks like. Named histograms may share one if their shapes are equal.
struct TableShape {
  hist::TableLayout layout{};
  std::vector<std::uint32_t> key_sizes;
  std::vector<hist::Place> variables;
  struct ActionPlace {
    std::uint32_t tracked_at = 0;
    std::uint32_t taken_at = 0;
    std::uint32_t saved_at = 0;
    std::vector<hist::Place> saved;  // kSave: one a param
    bool operator==(const ActionPlace&) const = default;
  };
  std::vector<ActionPlace> actions;
  bool operator==(const TableShape&) const = default;
};

// EINVAL, E2BIG for what no plan can express: more keys than hist::kMaxKeys, a value that is not a number, an
// expression that does not leave one number or needs more than hist::kMaxStack, references and variables that are not
// there, a payload that may grow beyond hist::kMaxSyntheticPayload, and so on.
Result<TableShape> shape_of(const HistPlanDescription& what);

// The bytes of the hist::HistPlan, to lie at an address that is a multiple of 8. `shape` is that of `what`.
std::vector<std::byte> build_hist_plan(const HistPlanDescription& what, const TableShape& shape, std::uint64_t table);

}  // namespace landtrace::language
