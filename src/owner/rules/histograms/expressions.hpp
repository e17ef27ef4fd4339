// What is written as a key, a value, or behind a variable's "=": its fields and variables found.
#pragma once

#include "rules/histograms/variables.hpp"

namespace landtrace::rules {

class Expressions {
 public:
  Expressions(const Event& event, Histogram& histogram, Variables& variables, language::HistComplaints& complaints)
      : event_(event), histogram_(histogram), variables_(variables), complaints_(complaints) {}

  // EINVAL, EDOM, ENOMEM: for a field that is no number and no text. `variable`: the name of the one that it makes.
  Result<FieldPtr> parse(std::string_view text, FieldRole role, std::string_view variable = {});
  // The expression of the histogram's variable of that number.
  Result<FieldPtr> parse_definition(std::size_t index);
  // One without operators.
  Result<FieldPtr> parse_atom(std::string_view text, FieldRole role, std::string_view variable = {});

  // A reference to the variable; the one that there is, if there is one. nullptr: there are too many.
  FieldPtr refer_to(const FoundVariable& variable, std::string_view system, std::string_view event);

 private:
  Result<FieldPtr> parse_part(std::string_view text, FieldRole role, std::string_view variable, unsigned& operators);
  Result<FieldPtr> parse_negation(std::string_view text, FieldRole role, std::string_view variable,
                                  unsigned& operators);
  Result<FieldPtr> parse_operand(std::string_view text, unsigned& operators);
  Result<FieldPtr> combine(language::HistOperator op, FieldPtr left, FieldPtr right, std::string_view right_text,
                           HistogramField result);
  Result<FieldPtr> parse_constant(std::string_view text, HistogramField made);
  FieldPtr find_reference(std::string_view system, std::string_view event, std::string_view name);
  [[nodiscard]] std::string* local_definition(std::string_view system, std::string_view event,
                                              std::string_view name) const;

  const Event& event_;
  Histogram& histogram_;
  Variables& variables_;
  language::HistComplaints& complaints_;
};

}  // namespace landtrace::rules
