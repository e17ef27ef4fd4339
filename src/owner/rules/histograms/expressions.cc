#include "rules/histograms/expressions.hpp"

#include <algorithm>

#include "base/input.hpp"
#include "hist/division.hpp"
#include "rules/histograms/event_fields.hpp"

namespace landtrace::rules {

using language::HistMistake;
using language::HistOperator;

namespace {

constexpr unsigned kMaxOperators = 3;

bool is_reference(std::string_view text) { return text.starts_with('$'); }

HistogramField made_for(FieldRole role, std::string_view variable) {
  HistogramField field;
  field.role = role;
  field.variable = variable;
  return field;
}

FieldPtr shared(HistogramField field) { return std::make_shared<HistogramField>(std::move(field)); }

// Leaves the first of its fields, without its view.
void cut_off(std::string& expression) {
  for (;;) {
    const language::HistCut cut = language::cut_of(expression);
    if (cut.op == HistOperator::kNone || cut.op == HistOperator::kNegate) break;
    expression.resize(cut.at);
  }
  expression.resize(std::min(expression.find('.'), expression.size()));
}

// The kernel divides by another histogram's constant with a factor that it has put elsewhere: small numbers are lost.
std::uint64_t combined_constants(HistOperator op, const HistogramField& left, const HistogramField& right) {
  const bool has_factor = op == HistOperator::kDivide && hist::division_factor(right.constant) != 0;
  if (has_factor && right.source == FieldSource::kReference && left.constant < hist::kDivisionUnit) return 0;
  return combined(op, left.constant, right.constant);
}

void take_shape(HistogramField& field, const HistogramField& from) {
  field.size = from.size;
  field.is_signed = from.is_signed;
  field.type = from.type;
}

}  // namespace

Result<FieldPtr> Expressions::parse(std::string_view text, FieldRole role, std::string_view variable) {
  unsigned operators = 0;
  return parse_part(text, role, variable, operators);
}

// The kernel cuts the expression's text where it stands. What refers to the variable from here on sees what is left of
// it: "rc" where that was "rc-$v0", "id" where it was "id.hex".
Result<FieldPtr> Expressions::parse_definition(std::size_t index) {
  language::VariableDefinition& definition = histogram_.definitions[index];
  const std::string text = definition.expression;
  cut_off(definition.expression);
  return parse(text, FieldRole::kVariable, definition.name);
}

Result<FieldPtr> Expressions::parse_part(std::string_view text, FieldRole role, std::string_view variable,
                                         unsigned& operators) {
  if (operators > kMaxOperators) return complaints_.refuse(HistMistake::kTooManySubexpressions, text);
  const language::HistCut cut = language::cut_of(text);
  if (cut.op == HistOperator::kNone) return parse_atom(text, role, variable);
  ++operators;
  if (cut.op == HistOperator::kNegate) return parse_negation(text, role, variable, operators);
  const std::string_view left_text = text.substr(0, cut.at);
  const std::string_view right_text = text.substr(cut.at + 1);
  if (left_text.empty() || right_text.empty()) return fail(EINVAL, "an operator has two operands");
  LT_TRY(FieldPtr left, parse_operand(left_text, operators));
  LT_TRY(FieldPtr right, parse_operand(right_text, operators));
  return combine(cut.op, std::move(left), std::move(right), right_text, made_for(role, variable));
}

Result<FieldPtr> Expressions::parse_operand(std::string_view text, unsigned& operators) {
  LT_TRY(FieldPtr operand, parse_part(text, FieldRole::kOperand, {}, operators));
  if (operand->is_text()) return complaints_.refuse(HistMistake::kTextOperand, text);
  return operand;
}

// -(…)
Result<FieldPtr> Expressions::parse_negation(std::string_view text, FieldRole role, std::string_view variable,
                                             unsigned& operators) {
  if (operators > kMaxOperators) return complaints_.refuse(HistMistake::kTooManySubexpressions, text);
  if (text.find('(') == std::string_view::npos) return fail(EINVAL, "want a parenthesis behind the minus sign");
  const std::string_view inner = text.substr(2);
  const std::size_t end = inner.rfind(')');
  if (end == std::string_view::npos) return fail(EINVAL, "want a closing parenthesis");
  if (end + 1 != inner.size()) return complaints_.refuse(HistMistake::kUnaryMinus, inner);
  LT_TRY(FieldPtr operand, parse_operand(inner.substr(0, end), operators));
  HistogramField field = made_for(role, variable);
  field.source = FieldSource::kExpression;
  field.op = HistOperator::kNegate;
  field.is_time = operand->is_time;
  field.in_usecs = operand->in_usecs;
  take_shape(field, *operand);
  field.operands[0] = std::move(operand);
  field.name = expression_text(field);
  return shared(std::move(field));
}

Result<FieldPtr> Expressions::combine(HistOperator op, FieldPtr left, FieldPtr right, std::string_view right_text,
                                      HistogramField result) {
  if (left->in_usecs != right->in_usecs) return complaints_.refuse(HistMistake::kTimestampMismatch);
  left->once = true;
  right->once = true;
  if (op == HistOperator::kDivide && right->is_constant && right->constant == 0) {
    return complaints_.refuse(HistMistake::kDivisionByZero, right_text, EDOM);
  }
  result.is_time = left->is_time;
  result.in_usecs = left->in_usecs;
  if (left->is_constant && right->is_constant) {
    result.source = FieldSource::kConstant;
    result.is_constant = true;
    result.constant = combined_constants(op, *left, *right);
    result.size = 8;
    result.type = "u64";
    return shared(std::move(result));
  }
  result.source = FieldSource::kExpression;
  result.op = op;
  take_shape(result, *left);
  result.operands[0] = std::move(left);
  result.operands[1] = std::move(right);
  result.name = expression_text(result);
  return shared(std::move(result));
}

Result<FieldPtr> Expressions::parse_constant(std::string_view text, HistogramField made) {
  const auto number = number_in(text);
  if (!number) return complaints_.refuse(HistMistake::kNumberExpected, text);
  made.source = FieldSource::kConstant;
  made.is_constant = true;
  made.constant = *number;
  made.size = 8;
  made.type = "u64";
  return shared(std::move(made));
}

Result<FieldPtr> Expressions::parse_atom(std::string_view text, FieldRole role, std::string_view variable) {
  HistogramField made = made_for(role, variable);
  if (!text.empty() && text.front() >= '0' && text.front() <= '9') return parse_constant(text, std::move(made));

  std::string_view system;
  std::string_view event;
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second != std::string_view::npos) {
    system = text.substr(0, first);
    event = text.substr(first + 1, second - first - 1);
    text = text.substr(second + 1);
  }
  std::string definition;
  if (std::string* const local = local_definition(system, event, text)) {
    definition = *local;
    cut_off(*local);
    text = definition;
  } else if (is_reference(text)) {
    if (FieldPtr reference = find_reference(system, event, text.substr(1))) {
      if (variable.empty()) return reference;
      HistogramField alias = *reference;
      alias.role = FieldRole::kVariable;
      alias.source = FieldSource::kAlias;
      alias.variable = variable;
      alias.is_constant = false;
      alias.operands[0] = std::move(reference);
      return shared(std::move(alias));
    }
  }
  return field_of_event(text, event_, histogram_, std::move(made), complaints_);
}

// What a variable of the histogram stands for, where that is no more than a field: others are not there yet.
std::string* Expressions::local_definition(std::string_view system, std::string_view event,
                                           std::string_view name) const {
  if (!system.empty() && (system != histogram_.system || event != histogram_.event)) return nullptr;
  if (!is_reference(name)) return nullptr;
  for (language::VariableDefinition& definition : histogram_.definitions) {
    if (definition.name != name.substr(1)) continue;
    if (language::cut_of(definition.expression).op != HistOperator::kNone || is_reference(definition.expression))
      continue;
    return &definition.expression;
  }
  return nullptr;
}

FieldPtr Expressions::find_reference(std::string_view system, std::string_view event, std::string_view name) {
  FieldPtr reference;
  if (const auto found = variables_.find(system, event, name)) reference = refer_to(*found, system, event);
  if (!reference) complaints_.add(HistMistake::kVariableNotFound, name);
  return reference;
}

FieldPtr Expressions::refer_to(const FoundVariable& variable, std::string_view system, std::string_view event) {
  const Histogram* const of = variable.of ? variable.of.get() : &histogram_;
  const VariableId id{of, variable.index};
  for (const FieldPtr& there : histogram_.references) {
    if (there->refers_to == id) return there;
  }
  if (histogram_.references.size() == language::kMostHistVariables) return nullptr;
  const HistogramField& referred = *variable.field;
  HistogramField field;
  field.source = FieldSource::kReference;
  take_shape(field, referred);
  field.value_type = referred.value_type;
  field.is_time = referred.is_time;
  field.in_usecs = referred.in_usecs;
  field.is_constant = referred.source == FieldSource::kConstant;
  field.constant = referred.constant;
  field.name = referred.variable;
  field.system = system;
  field.event = event;
  field.refers_to = id;
  if (variable.of) field.table = variable.of->table;
  field.reference = histogram_.references.size();
  histogram_.references.push_back(shared(std::move(field)));
  return histogram_.references.back();
}

}  // namespace landtrace::rules
