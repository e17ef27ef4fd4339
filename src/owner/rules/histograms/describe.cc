#include "rules/histograms/describe.hpp"

#include <algorithm>

#include "arch/trace_clocks.hpp"
#include "rules/histograms/synthetic_fields.hpp"

namespace landtrace::rules {
namespace values = language::values;
namespace ops = language::ops;
namespace {

using hist::OpCode;
using hist::Origin;
using hist::ValueType;

OpCode code_of(language::HistOperator op) {
  switch (op) {
    case language::HistOperator::kAdd:
      return OpCode::kAdd;
    case language::HistOperator::kSubtract:
      return OpCode::kSubtract;
    case language::HistOperator::kMultiply:
      return OpCode::kMultiply;
    default:
      return OpCode::kNegate;
  }
}

bool is_common(const event::Field& field) { return field.offset < abi::kEntryHeaderSize; }

class Describer {
 public:
  Describer(const Histogram& histogram, const arch::TraceClock& clock) : histogram_(histogram), clock_(clock) {}

  language::HistPlanDescription describe() {
    language::HistPlanDescription what;
    what.elements = 1u << histogram_.attributes.bits;
    what.has_comm = std::any_of(histogram_.keys.begin(), histogram_.keys.end(),
                                [](const FieldPtr& key) { return key->view == FieldView::kExecName; });
    for (const FieldPtr& reference : histogram_.references) add_reference(*reference, what);
    for (const FieldPtr& key : histogram_.keys) what.keys.push_back(value_of(*key));
    for (std::size_t i = 1; i < histogram_.values.size(); ++i) what.values.push_back(sum_of(*histogram_.values[i]));
    for (const FieldPtr& variable : histogram_.variables) what.variables.push_back(value_of(*variable));
    return what;
  }

  language::HistActionDescription describe(const HistogramAction& action) const {
    language::HistActionDescription made;
    made.handler = action.text.handler;
    made.deed = action.text.deed;
    if (action.tracked) made.tracked = value_of(*action.tracked);
    for (const FieldPtr& param : action.params) made.params.push_back({value_of(*param), 0, 8, false});
    return made;
  }

 private:
  // Own variables are referred to by actions alone, and by their number.
  void add_reference(const HistogramField& reference, language::HistPlanDescription& what) {
    if (reference.refers_to.of == &histogram_) {
      numbers_.push_back(0);
      return;
    }
    numbers_.push_back(static_cast<std::uint32_t>(what.references.size()));
    const HistogramTable& table = *reference.table;
    what.references.push_back(
        {table.range->offset, table.shape.layout, table.shape.variables[reference.refers_to.index], reference.once});
  }

  [[nodiscard]] const HistogramField& referring(const HistogramField& field) const {
    return field.source == FieldSource::kAlias ? *field.operands[0] : field;
  }

  [[nodiscard]] language::HistValue value_of(const HistogramField& field) const {
    if (field.value_type == ValueType::kNumber) {
      language::HistExpression ops;
      append(field, ops);
      return values::number(std::move(ops));
    }
    switch (field.source) {
      case FieldSource::kReference:
      case FieldSource::kAlias: {
        const HistogramField& reference = referring(field);
        if (reference.refers_to.of == &histogram_) {
          return values::of_variable(field.value_type, static_cast<std::uint32_t>(reference.refers_to.index));
        }
        return values::of_reference(field.value_type, numbers_[reference.reference]);
      }
      case FieldSource::kStack:
        return values::thread_stack();
      default:
        return value_of_event(*field.of_event, field.value_type);
    }
  }

  static language::HistValue value_of_event(const event::Field& field, ValueType type) {
    const std::uint32_t offset = field.offset - abi::kEntryHeaderSize;
    switch (field.kind) {
      case event::FieldKind::kDataLocString:
      case event::FieldKind::kDataLocBytes:
      case event::FieldKind::kDataLocStack:
        return values::dynamic(type, Origin::kDataLoc, offset);
      case event::FieldKind::kRelLocString:
      case event::FieldKind::kRelLocBytes:
        return values::dynamic(type, Origin::kRelLoc, offset);
      default:
        return values::static_text(offset, std::min(field.size, hist::kTextSize));
    }
  }

  // The kernel adds up where texts are; that says nothing.
  [[nodiscard]] language::HistValue sum_of(const HistogramField& field) const {
    if (field.value_type != ValueType::kNumber) return values::number({ops::constant(0)});
    return value_of(field);
  }

  void append(const HistogramField& field, language::HistExpression& ops) const {
    append_source(field, ops);
    if (field.source == FieldSource::kReference || field.source == FieldSource::kAlias) return;
    if (field.view == FieldView::kLog2)
      ops.push_back(field.width == 0 ? ops::op(OpCode::kLog2) : ops::steps(field.width));
    if (field.view == FieldView::kBuckets) ops.push_back(ops::bucket(field.width));
  }

  void append_source(const HistogramField& field, language::HistExpression& ops) const {
    switch (field.source) {
      case FieldSource::kEvent:
        return append_field(field, ops);
      case FieldSource::kHitCount:
        ops.push_back(ops::constant(1));
        return;
      case FieldSource::kTime:
        ops.push_back(ops::timestamp(clock_id(), divisor()));
        return;
      case FieldSource::kCpu:
        ops.push_back(ops::cpu());
        return;
      case FieldSource::kConstant:
        ops.push_back(ops::constant(field.constant));
        return;
      case FieldSource::kExpression:
        for (const FieldPtr& operand : field.operands) {
          if (operand) append(*operand, ops);
        }
        append_operator(field, ops);
        return;
      case FieldSource::kReference:
      case FieldSource::kAlias: {
        const HistogramField& reference = referring(field);
        const bool is_own = reference.refers_to.of == &histogram_;
        ops.push_back(is_own ? ops::variable(static_cast<std::uint32_t>(reference.refers_to.index))
                             : ops::reference(numbers_[reference.reference]));
        return;
      }
      case FieldSource::kStack:
        ops.push_back(ops::constant(0));
        return;
    }
  }

  static void append_operator(const HistogramField& field, language::HistExpression& ops) {
    if (field.op == language::HistOperator::kDivide) {
      const HistogramField& divisor = *field.operands[1];
      ops.push_back(ops::divide(divisor.is_constant ? divisor.constant : 0));
    } else {
      ops.push_back(ops::op(code_of(field.op)));
    }
  }

  // A text's number is where it is, to the kernel: that says nothing.
  static void append_field(const HistogramField& field, language::HistExpression& ops) {
    const event::Field& of_event = *field.of_event;
    const auto size = static_cast<std::uint8_t>(of_event.size);
    const bool is_text = of_event.kind == event::FieldKind::kCharArray ||
                         of_event.kind == event::FieldKind::kDataLocString ||
                         of_event.kind == event::FieldKind::kRelLocString;
    if (is_text) {
      ops.push_back(ops::constant(0));
    } else if (is_common(of_event)) {
      ops.push_back(ops::header(of_event.offset, size, of_event.is_signed));
    } else {
      ops.push_back(ops::field(of_event.offset - abi::kEntryHeaderSize, size, of_event.is_signed));
    }
  }

  [[nodiscard]] std::uint8_t clock_id() const {
    return clock_.is_raw() ? hist::kRawClock : static_cast<std::uint8_t>(clock_.system);
  }

  // usecs make sense of clocks that count nanoseconds.
  [[nodiscard]] std::uint64_t divisor() const {
    if (clock_.is_raw()) return 1;
    return histogram_.in_usecs && clock_.is_in_ns() ? 1000 : clock_.unit_ns;
  }

  const Histogram& histogram_;
  const arch::TraceClock& clock_;
  std::vector<std::uint32_t> numbers_;  // of references among those of others, by reference
};

}  // namespace

Result<language::HistPlanDescription> describe(Events& events, const Instance& instance, const Histogram& histogram,
                                               std::uint32_t pause, std::uint32_t event_pause) {
  const arch::TraceClock* const clock =
      arch::trace_clock_named(histogram.uses_time ? histogram.attributes.clock : "global");
  if (clock == nullptr) return fail(EINVAL, "no clock '" + histogram.attributes.clock + "'");
  Describer describer(histogram, *clock);
  language::HistPlanDescription what = describer.describe();
  what.pause_cell = pause;
  what.event_pause_cell = event_pause;
  for (const HistogramAction& action : histogram.actions) {
    language::HistActionDescription made = describer.describe(action);
    if (made.deed == hist::Deed::kSnapshot) made.target = instance.flip ? instance.flip->counter : 0;
    if (made.deed == hist::Deed::kTrace) {
      const Event* const synthetic = events.at(action.synthetic);
      if (synthetic == nullptr) return fail(ENOENT, "the synthetic event is gone");
      made.target = synthetic->slot;
      place_params(*synthetic, made);
    }
    what.actions.push_back(std::move(made));
  }
  return what;
}

}  // namespace landtrace::rules
