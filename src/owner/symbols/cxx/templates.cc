#include <algorithm>

#include "symbols/cxx/codes.hpp"
#include "symbols/cxx/grammar.hpp"

namespace landtrace::symbols::cxx {

const Node* Reader::with_arguments(const Node* of) {
  const auto arguments = template_arguments();
  return template_ = tree_.add({.kind = Kind::kTemplate, .left = of, .parts = arguments});
}

const Node* Reader::template_param_declaration() {
  const Deeper deeper(*this);
  if (!is_good_) return &kNothing;
  const Node* const dots = skip("Tp") ? text("...") : &kNothing;
  expect('T');
  const auto called = [&](std::string_view prefix) {
    lambda_parameters_.push_back(text(tree_.keep(std::string(prefix) + std::to_string(lambda_parameters_.size()))));
    return lambda_parameters_.back();
  };
  if (skip('y')) return pattern("typename$ $", {dots, called("$T")});
  if (skip('k')) {
    const Node* const constraint = name();
    return pattern("$$ $", {constraint, dots, called("$T")});
  }
  if (skip('n')) {
    const Node* const parameter = called("$N");
    return pattern("$$ $", {type(), dots, parameter});
  }
  expect('t');
  auto outer = std::exchange(lambda_parameters_, {});
  std::vector<const Node*> inner;
  while (is_good_ && !skip('E')) inner.push_back(template_param_declaration());
  std::swap(outer, lambda_parameters_);
  return pattern("template<$> class$ $", {list(inner), dots, called("$TT")});
}

std::size_t Reader::sequence_number() {
  if (skip('_')) return 0;
  std::size_t value = 0;
  constexpr std::size_t kMost = 1u << 20;
  is_good_ &= peek() != '\0';
  for (; (is_digit(peek()) || is_upper(peek())) && value < kMost; advance(1)) {
    value = 36 * value + static_cast<std::size_t>(is_digit(peek()) ? peek() - '0' : peek() - 'A' + 10);
  }
  expect('_');
  return value + 1;
}

const Node* Reader::substitution(bool is_prefix) {
  expect('S');
  if (peek() == '_' || is_digit(peek()) || is_upper(peek())) return candidate(sequence_number());
  const auto found =
      std::find_if(kStandards.begin(), kStandards.end(), [&](const Standard& one) { return one.code == peek(); });
  if (found == kStandards.end()) return refuse();
  advance(1);
  const Node* part = nullptr;
  if (found->arguments.empty() || (is_prefix && (peek() == 'C' || peek() == 'D'))) {
    part = qualified(text("std"), name_text(found->name));
    if (!found->arguments.empty()) {
      const std::array arguments{text(found->arguments)};
      part = tree_.add({.kind = Kind::kTemplate, .left = part, .parts = tree_.keep(arguments)});
    }
  } else {
    part = text(found->text);
  }
  if (peek() == 'B') part = add_candidate(tags(part));
  return part;
}

const Node* Reader::template_param() {
  expect('T');
  if (skip('L')) std::ignore = compact_number();  // levels further out
  const std::size_t number = compact_number();
  if (!is_good_) return &kNothing;
  if (is_in_conversion_) return later_.emplace_back(tree_.add_later(static_cast<unsigned>(number)));
  return tree_.add({.kind = Kind::kParameter,
                    .number = static_cast<unsigned>(number),
                    .parameters = number < 64 ? std::uint64_t{1} << number : 0});
}

std::span<const Node* const> Reader::template_arguments() {
  const Deeper deeper(*this);
  if (!is_good_) return {};
  is_good_ &= skip('I') || skip('J');
  const unsigned qualifiers = qualifiers_;
  const bool is_without_return_type = is_without_return_type_;
  std::vector<const Node*> arguments;
  while (is_good_ && peek() != 'E' && peek() != 'Q') arguments.push_back(template_argument());
  if (skip('Q')) std::ignore = expression();  // what they have to satisfy
  expect('E');
  qualifiers_ = qualifiers;
  is_without_return_type_ = is_without_return_type;
  return tree_.keep(arguments);
}

const Node* Reader::template_argument() {
  const Deeper deeper(*this);
  if (!is_good_) return &kNothing;
  if (is_at_template_param_declaration()) {
    auto outer = std::exchange(lambda_parameters_, {});
    std::ignore = template_param_declaration();
    std::swap(outer, lambda_parameters_);
  }
  if (peek() == 'L') return literal();
  if (peek() == 'I' || peek() == 'J') {
    return tree_.add({.kind = Kind::kPack, .parts = template_arguments()});
  }
  if (!skip('X')) return type();
  const Node* const read = expression();
  expect('E');
  return read;
}

}  // namespace landtrace::symbols::cxx
