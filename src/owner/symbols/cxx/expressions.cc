#include "symbols/cxx/codes.hpp"
#include "symbols/cxx/grammar.hpp"

namespace landtrace::symbols::cxx {

const Node* Reader::literal() {
  expect('L');
  if (skip("_Z") || skip('Z')) {
    const bool was_scope = std::exchange(is_scope_, false);
    const Node* const of = encoding(false);
    is_scope_ = was_scope;
    expect('E');
    return of;
  }
  const Node* const of = type();
  std::size_t end = 0;
  while (is_digit(peek(end)) || is_lower(peek(end)) || peek(end) == '_') ++end;
  const std::string_view value = rest_.substr(0, end);
  advance(end);
  expect('E');
  if (value.empty()) return of;
  return tree_.add({.kind = Kind::kLiteral, .text = value, .left = of});
}

std::vector<const Node*> Reader::expressions(char end) {
  std::vector<const Node*> all;
  while (is_good_ && !skip(end)) all.push_back(expression());
  return all;
}

const Node* Reader::expression() {
  const Deeper deeper(*this);
  if (!is_good_) return &kNothing;
  const char c = peek();
  if (c == 'L') return literal();
  if (c == 'T') return template_param();
  if (is_digit(c) || is_at("on")) return member();
  if (skip("dn")) return pattern("~$", {destroyed()}, true);
  if (skip("sr")) return scoped_name();
  if (skip("sp")) return tree_.add({.kind = Kind::kExpansion, .left = expression()});
  if (skip("sZ")) return tree_.add({.kind = Kind::kPackLength, .left = expression()});
  if (skip("sP")) return captured_pack_length();
  if (is_at("fp") || is_at("fL")) {
    if (const Node* const parameter = function_param()) return parameter;
  }
  if (is_at("fl") || is_at("fr") || is_at("fL") || is_at("fR")) return fold();
  if (skip("cv")) return conversion();
  if (is_at("nw") || is_at("na")) return new_expression();
  if (skip('u')) {
    const Node* const named = source_name();
    std::vector<const Node*> arguments;
    while (is_good_ && !skip('E')) arguments.push_back(template_argument());
    return pattern("$($)", {named, list(arguments)});
  }
  if (is_at("rq") || is_at("rQ")) return requirements();
  return operation();
}

const Node* Reader::operation() {
  const Operation* const found = find_code(kOperations, rest_);
  if (found == nullptr) {
    // The address of a member is written without its parameters.
    if (!skip("ad")) return refuse();
    const Node* of = expression();
    if (of->kind == Kind::kFunction && of->left != nullptr && of->left->kind == Kind::kQualified) of = of->left;
    return pattern("&@", {of});
  }
  advance(found->code.size());
  std::vector<const Node*> parts;
  for (const char operand : found->operands) {
    switch (operand) {
      case 't':
        parts.push_back(type());
        break;
      case 'm':
        parts.push_back(is_at("sr") || is_at("gs") || is_at("dn") ? expression() : member());
        break;
      case 'E':
        parts.push_back(list(expressions('E')));
        break;
      default:
        parts.push_back(expression());
        break;
    }
  }
  // What is called is written without its parameters.
  if (found->code == "cl" && parts[0]->kind == Kind::kFunction && parts[0]->left != nullptr) parts[0] = parts[0]->left;
  return pattern(found->pattern, parts, found->code == "il" || found->code == "tl" || found->code.starts_with("di"));
}

const Node* Reader::function_param() {
  if (skip("fpT")) return name_text("this");
  const Trial trial(*this);
  if (skip("fL")) {
    if (!number() || !skip('p')) return nullptr;
  } else {
    advance(2);
  }
  std::ignore = cv_qualifiers();
  const std::size_t count = compact_number() + 1;
  if (!is_good_) return nullptr;
  trial.keep();
  return pattern("{parm#$}", {numeral(count)}, true);
}

const Node* Reader::fold() {
  const char kind = peek(1);
  advance(2);
  const Code* const code = find_code(kOperatorNames, rest_);
  if (code == nullptr) return refuse();
  advance(2);
  const Node* const sign = text(code->text);
  const Node* const first = expression();
  if (kind == 'l') return pattern("(...$@)", {sign, first});
  if (kind == 'r') return pattern("(@$...)", {first, sign});
  const Node* const second = expression();
  return pattern("(@$...$@)", {first, sign, sign, second});
}

const Node* Reader::conversion() {
  const Node* const to = type();
  if (skip('_')) return pattern("($)($)", {to, list(expressions('E'))});
  return pattern("($)@", {to, expression()});
}

const Node* Reader::new_expression() {
  const std::string_view word = is_at("na") ? "new[] " : "new ";
  advance(2);
  const auto placement = expressions('_');
  const Node* const of = type();
  std::vector<const Node*> parts{text(word), placement.empty() ? &kNothing : pattern("($) ", {list(placement)}), of};
  if (skip("pi")) {
    parts.push_back(pattern("($)", {list(expressions('E'))}));
  } else if (is_at("il")) {
    parts.push_back(expression());
  } else {
    expect('E');
    parts.push_back(&kNothing);
  }
  return pattern("$$$$", parts);
}

const Node* Reader::captured_pack_length() {
  std::size_t count = 0;
  std::vector<const Node*> arguments;
  while (is_good_ && !skip('E')) arguments.push_back(template_argument());
  for (const Node* one : arguments) count += one->kind == Kind::kPack ? one->parts.size() : 1;
  return numeral(count);
}

const Node* Reader::requirements() {
  std::vector<const Node*> parameters;
  const bool has_parameters = is_at("rQ");
  advance(2);
  if (has_parameters) {
    while (is_good_ && !skip('_')) parameters.push_back(type());
  }
  const Node* all = &kNothing;
  while (is_good_ && !skip('E')) {
    const Node* one = nullptr;
    if (skip('X')) {
      one = expression();
      if (skip('N')) one = pattern("{$} noexcept", {one});
      if (skip('R')) one = pattern("{$} -> $", {one, type_name()});
    } else if (skip('T')) {
      one = pattern("typename $", {type()});
    } else if (skip('Q')) {
      one = pattern("requires $", {expression()});
    } else {
      return refuse();
    }
    all = pattern("$ $;", {all, one});
  }
  const Node* const of = parameters.empty() ? &kNothing : pattern("($) ", {list(parameters)});
  return pattern("requires ${$ }", {of, all});
}

const Node* Reader::scoped_name() {
  if (is_digit(peek())) {
    const Trial trial(*this);
    const Node* scope = nullptr;
    while (is_good_ && !skip('E')) {
      const Node* const level = member();
      scope = scope != nullptr ? qualified(scope, level) : level;
    }
    if (scope != nullptr) {
      const Node* const named = member();
      if (is_good_) {
        trial.keep();
        return qualified(scope, named);
      }
    }
  }
  const Node* const scope = type();
  return qualified(scope, is_at("dn") ? expression() : member());
}

const Node* Reader::member() {
  const Node* const named = unqualified_name(nullptr);
  return peek() == 'I' ? with_arguments(named) : named;
}

}  // namespace landtrace::symbols::cxx
