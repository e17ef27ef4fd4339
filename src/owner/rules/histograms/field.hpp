// A field of a histogram, which is what it counts by, adds up, or keeps as a variable: where its value comes from, and
// how it is shown.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "event/declaration.hpp"
#include "hist/layout.hpp"
#include "language/histogram/operators.hpp"

namespace landtrace::rules {

struct Histogram;
struct HistogramTable;

enum class FieldRole : std::uint8_t { kOperand, kValue, kVariable, kKey };

enum class FieldSource : std::uint8_t {
  kEvent,  // a field of the event, or a common one
  kHitCount,
  kTime,  // common_timestamp
  kCpu,
  kStack,  // of the thread
  kConstant,
  kExpression,
  kReference,  // a variable
  kAlias,      // a variable that is another's value
};

// What stands behind the dot: FIELD.VIEW
enum class FieldView : std::uint8_t {
  kPlain,
  kHex,
  kSymbol,
  kSymbolOffset,
  kExecName,
  kSyscall,
  kLog2,
  kBuckets,
  kUsecs,
  kPercent,
  kGraph,
  kStack,
};

// Of a reference: which variable.
struct VariableId {
  const Histogram* of = nullptr;  // only to be compared: it may be gone
  std::size_t index = 0;          // among its variables

  friend bool operator==(const VariableId&, const VariableId&) = default;
};

struct HistogramField;
using FieldPtr = std::shared_ptr<HistogramField>;

struct HistogramField {
  FieldRole role = FieldRole::kOperand;
  FieldSource source = FieldSource::kEvent;
  FieldView view = FieldView::kPlain;
  bool is_time = false;   // it comes from common_timestamp
  bool in_usecs = false;  // … in usecs
  std::optional<event::Field> of_event;
  hist::ValueType value_type = hist::ValueType::kNumber;

  // As the kernel knows it: what decides whether it fits a key or a synthetic event's field.
  std::string type;
  std::uint32_t size = 0;
  bool is_signed = false;
  std::uint32_t key_offset = 0;  // of a key, in the kernel's key

  std::string variable;  // its name, if it is one
  std::string name;      // of an expression: its text; of a reference: the variable's name
  std::string system;    // of a reference that is written SYSTEM.EVENT.$NAME
  std::string event;
  std::uint64_t width = 0;   // of buckets; with kLog2 how many steps a power of two has, 0: one
  bool is_constant = false;  // a constant, or a variable that is one
  std::uint64_t constant = 0;
  language::HistOperator op = language::HistOperator::kNone;
  FieldPtr operands[2];

  VariableId refers_to;                         // kReference
  std::shared_ptr<const HistogramTable> table;  // … whose value is there
  std::size_t reference = 0;                    // … its number among the histogram's
  bool once = false;                            // … and it is unset by who reads it

  [[nodiscard]] bool is_text() const { return value_type == hist::ValueType::kText; }
  [[nodiscard]] bool is_stack() const { return value_type == hist::ValueType::kStack; }
};

// The number in `field` is another histogram's variable, or comes from one.
bool refers_to_variables(const HistogramField& field);
// What a histogram of the same kind has in its place.
bool is_same_field(const HistogramField& one, const HistogramField& other);

// Its name in a row; what a sort key is compared with.
std::string name_of(const HistogramField& field);
// As in the trigger's line: "v.log2", "x=$v0", "10".
std::string text_of(const HistogramField& field);
// As a part of an expression's text.
std::string operand_text(const HistogramField& field);
std::string expression_text(const HistogramField& field);

}  // namespace landtrace::rules
