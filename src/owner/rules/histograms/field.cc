#include "rules/histograms/field.hpp"

#include <fmt/format.h>

namespace landtrace::rules {
namespace {

std::string_view view_text(FieldView view) {
  switch (view) {
    case FieldView::kHex:
      return "hex";
    case FieldView::kSymbol:
      return "sym";
    case FieldView::kSymbolOffset:
      return "sym-offset";
    case FieldView::kExecName:
      return "execname";
    case FieldView::kSyscall:
      return "syscall";
    case FieldView::kLog2:
      return "log2";
    case FieldView::kBuckets:
      return "buckets";
    case FieldView::kUsecs:
      return "usecs";
    case FieldView::kPercent:
      return "percent";
    case FieldView::kGraph:
      return "graph";
    case FieldView::kStack:
      return "stacktrace";
    case FieldView::kPlain:
      break;
  }
  return "";
}

std::string view_suffix(const HistogramField& field) {
  std::string_view text = view_text(field.view);
  if (text.empty() && field.in_usecs) text = view_text(FieldView::kUsecs);
  return text.empty() ? "" : fmt::format(".{}", text);
}

bool is_same_event_field(const std::optional<event::Field>& one, const std::optional<event::Field>& other) {
  if (!one || !other) return !one && !other;
  return one->name == other->name && one->type == other->type && one->size == other->size &&
         one->is_signed == other->is_signed;
}

}  // namespace

bool refers_to_variables(const HistogramField& field) {
  if (field.source == FieldSource::kReference || field.source == FieldSource::kAlias) return true;
  for (const FieldPtr& operand : field.operands) {
    if (operand && refers_to_variables(*operand)) return true;
  }
  return false;
}

bool is_same_field(const HistogramField& one, const HistogramField& other) {
  return one.role == other.role && one.source == other.source && one.view == other.view &&
         one.is_time == other.is_time && one.in_usecs == other.in_usecs &&
         is_same_event_field(one.of_event, other.of_event) && one.key_offset == other.key_offset &&
         one.size == other.size && one.is_signed == other.is_signed && one.variable == other.variable;
}

std::string name_of(const HistogramField& field) {
  if (field.of_event) return field.of_event->name;
  switch (field.source) {
    case FieldSource::kCpu:
      return "common_cpu";
    case FieldSource::kTime:
      return "common_timestamp";
    case FieldSource::kStack:
      return "common_stacktrace";
    case FieldSource::kExpression:
    case FieldSource::kReference:
    case FieldSource::kAlias:
      return field.system.empty() ? field.name : fmt::format("{}.{}.{}", field.system, field.event, field.name);
    case FieldSource::kHitCount:
      return "hitcount";
    case FieldSource::kEvent:
    case FieldSource::kConstant:
      break;
  }
  return "";
}

std::string text_of(const HistogramField& field) {
  std::string text;
  if (!field.variable.empty()) text = field.variable + "=";
  if (field.source == FieldSource::kCpu) {
    text += "common_cpu";
  } else if (field.source == FieldSource::kConstant) {
    text += std::to_string(field.constant);
  } else {
    if (field.source == FieldSource::kReference || field.source == FieldSource::kAlias) text += '$';
    text += name_of(field);
  }
  const bool has_view = field.source != FieldSource::kReference && field.source != FieldSource::kExpression &&
                        (!field.is_stack() || (field.role == FieldRole::kKey && field.view == FieldView::kStack));
  if (has_view) text += view_suffix(field);
  if (field.width != 0) text += fmt::format("={}", field.width);
  return text;
}

std::string operand_text(const HistogramField& field) {
  switch (field.source) {
    case FieldSource::kReference:
      return "$" + name_of(field);
    case FieldSource::kConstant:
      return std::to_string(field.constant);
    default:
      return name_of(field) + view_suffix(field);
  }
}

std::string expression_text(const HistogramField& field) {
  if (field.op == language::HistOperator::kNegate) {
    const HistogramField& operand = *field.operands[0];
    const bool is_simple = operand.source != FieldSource::kExpression;
    return fmt::format("-({})", is_simple ? operand_text(operand) : expression_text(operand));
  }
  return operand_text(*field.operands[0]) + language::sign_of(field.op) + operand_text(*field.operands[1]);
}

}  // namespace landtrace::rules
