#include "symbols/cxx/codes.hpp"
#include "symbols/cxx/grammar.hpp"

namespace landtrace::symbols::cxx {

const Node* Reader::type() {
  const Deeper deeper(*this);
  if (!is_good_) return &kNothing;
  if (is_at_function_type()) return add_candidate(function_type());
  if (const unsigned qualifiers = cv_qualifiers(); qualifiers != 0) {
    const Node* of = type();
    for (const unsigned one : {kConst, kVolatile, kRestrict}) {
      if (qualifiers & one) of = tree_.add({.kind = Kind::kCv, .left = of, .number = one});
    }
    return add_candidate(of);
  }
  bool is_candidate = true;
  const Node* const read = bare_type(is_candidate);
  return is_candidate ? add_candidate(read) : read;
}

const Node* Reader::bare_type(bool& is_candidate) {
  const char c = peek();
  const bool may_be_builtin = is_lower(c) || c == 'D';
  if (const Code* const builtin = may_be_builtin ? find_code(kBuiltinTypes, rest_) : nullptr) {
    is_candidate = false;
    advance(builtin->code.size());
    return text(builtin->text);
  }
  if (skip('P')) return pointer(type(), "*");
  if (skip('R')) return pointer(type(), "&");
  if (skip('O')) return pointer(type(), "&&");
  if (skip('C')) return suffixed(type(), " _Complex");
  if (skip('G')) return suffixed(type(), " _Imaginary");
  if (skip('u')) {
    const Node* const named = source_name();
    return peek() == 'I' ? with_arguments(named) : named;
  }
  if (skip('U')) {
    const Node* qualifier = source_name();
    if (peek() == 'I') qualifier = with_arguments(qualifier);
    return pattern("$ $", {type(), qualifier});
  }
  if (c == 'A') return array_type();
  if (skip('M')) {
    const Node* const in = type();
    const Node* const of = type();
    return tree_.add({.kind = Kind::kMember, .left = in, .right = of});
  }
  if (c == 'T') return type_of_param();
  if (c == 'D') return type_of_two_letters(is_candidate);
  if (c == 'S' && peek(1) != 't') return type_of_substitution(is_candidate);
  if (is_digit(c) || c == 'N' || c == 'Z' || c == 'S') return type_name();
  return refuse();
}

const Node* Reader::type_name() {
  const unsigned qualifiers = qualifiers_;
  const Node* const named = name();
  qualifiers_ = qualifiers;
  return named;
}

const Node* Reader::type_of_param() {
  const Node* const param = template_param();
  if (peek() != 'I' || (is_in_conversion_ && !has_arguments_twice())) return param;
  add_candidate(param);
  return with_arguments(param);
}

bool Reader::has_arguments_twice() {
  const Trial trial(*this);
  std::ignore = template_arguments();
  return is_good_ && peek() == 'I';
}

const Node* Reader::type_of_two_letters(bool& is_candidate) {
  if (skip("DT") || skip("Dt")) {
    const Node* const of = expression();
    expect('E');
    return pattern("decltype ($)", {of});
  }
  if (skip("Dv")) {
    const Node* dimension = nullptr;
    if (skip('_')) {
      dimension = expression();
    } else {
      dimension = digits();
    }
    expect('_');
    return tree_.add({.kind = Kind::kVector, .left = type(), .right = dimension});
  }
  if (skip("Dp")) return tree_.add({.kind = Kind::kExpansion, .left = type()});
  if (skip("Dk")) return pattern("$ auto", {type_name()});
  if (skip("DK")) return pattern("$ decltype(auto)", {type_name()});
  is_candidate = false;
  if (skip("DF")) {
    const std::string_view bits = digits()->text;
    if (skip('b')) return text(tree_.keep("std::bfloat" + std::string(bits) + "_t"));
    const bool is_extended = skip('x');
    if (!is_extended) expect('_');
    return text(tree_.keep("_Float" + std::string(bits) + (is_extended ? "x" : "")));
  }
  const bool is_unsigned = is_at("DU");
  if (!is_unsigned && !is_at("DB")) return refuse();
  advance(2);
  const Node* const bits = is_digit(peek()) ? digits() : expression();
  expect('_');
  return pattern(is_unsigned ? "unsigned _BitInt($)" : "_BitInt($)", {bits});
}

const Node* Reader::digits() {
  std::size_t count = 0;
  while (is_digit(peek(count))) ++count;
  const Node* const read = text(rest_.substr(0, count));
  advance(count);
  return read;
}

const Node* Reader::type_of_substitution(bool& is_candidate) {
  const Node* const part = substitution(false);
  if (peek() == 'I') return with_arguments(part);
  is_candidate = false;
  return part;
}

const Node* Reader::function_type() {
  unsigned qualifiers = cv_qualifiers();
  const Node* throws = nullptr;
  if (skip("Do")) {
    throws = text(" noexcept");
  } else if (skip("DO")) {
    throws = pattern(" noexcept($)", {expression()});
    expect('E');
  } else if (skip("Dw")) {
    throws = pattern(" throw($)", {list(types())});
    expect('E');
  }
  if (skip("Dx")) throws = throws == nullptr ? text(" transaction_safe") : pattern("$ transaction_safe", {throws});
  expect('F');
  std::ignore = skip('Y');
  std::ignore = skip('J');
  const Node* const result = type();
  const auto parameters = types();
  if (skip('R')) qualifiers |= kLvalue;
  if (skip('O')) qualifiers |= kRvalue;
  expect('E');
  return tree_.add({.kind = Kind::kFunction,
                    .right = result,
                    .third = throws,
                    .parts = tree_.keep(parameters),
                    .number = qualifiers});
}

const Node* Reader::array_type() {
  expect('A');
  const Node* dimension = nullptr;
  if (is_digit(peek())) {
    dimension = digits();
  } else if (peek() != '_') {
    dimension = expression();
  }
  expect('_');
  return tree_.add({.kind = Kind::kArray, .left = type(), .right = dimension});
}

}  // namespace landtrace::symbols::cxx
