#include "symbols/cxx/codes.hpp"
#include "symbols/cxx/grammar.hpp"
#include "symbols/cxx/reader.hpp"

namespace landtrace::symbols::cxx {

const Node* Reader::clone(const Node* of) {
  std::size_t end = 1;
  if (is_lower(peek(1)) || peek(1) == '_') {
    while (is_lower(peek(end)) || peek(end) == '_') ++end;
  } else if (!is_digit(peek(1))) {
    return refuse();
  }
  while (is_digit(peek(end)) || (peek(end) == '.' && is_digit(peek(end + 1)))) ++end;
  const Node* const suffix = text(rest_.substr(0, end));
  advance(end);
  return pattern("$ [clone $]", {of, suffix});
}

const Node* Reader::encoding(bool is_outermost) {
  const Deeper deeper(*this);
  if (!is_good_) return &kNothing;
  const bool is_in_conversion = std::exchange(is_in_conversion_, false);
  const Node* const read = peek() == 'T' || peek() == 'G' ? special_name() : function_or_variable(is_outermost);
  is_in_conversion_ = is_in_conversion;
  return read;
}

const Node* Reader::function_or_variable(bool is_outermost) {
  qualifiers_ = 0;
  const Node* const named = name();
  const unsigned qualifiers = qualifiers_;
  const Node* const scope = template_;
  const bool has_return_type = (scope != nullptr && !is_without_return_type_) || peek() == 'J';
  if (!is_good_ || at_end()) return named;
  std::ignore = skip('J');
  const Node* result = has_return_type ? type() : nullptr;
  // "void g<int>()" is said of what is called, of what a name is in it is not.
  if (!is_outermost && is_scope_) result = nullptr;
  const auto of = types();
  const Node* const behind = constraint();
  return tree_.add({.kind = Kind::kFunction,
                    .left = named,
                    .right = result,
                    .third = behind,
                    .scope = scope,
                    .parts = tree_.keep(of),
                    .number = qualifiers});
}

std::vector<const Node*> Reader::types() {
  std::vector<const Node*> all;
  while (is_good_ && !at_end() && peek() != 'Q') {
    if ((peek() == 'R' || peek() == 'O') && peek(1) == 'E') break;
    all.push_back(type());
  }
  is_good_ &= !all.empty();
  if (all.size() == 1 && all[0]->kind == Kind::kText && all[0]->text == "void" && !all[0]->is_simple) all.clear();
  return all;
}

const Node* Reader::special_name() {
  if (const Special* const special = find_code(kSpecials, rest_)) {
    advance(special->code.size());
    switch (special->operand) {
      case 't':
        return pattern(special->pattern, {type()});
      case 'n':
        return pattern(special->pattern, {name()});
      case 'a':
        return pattern(special->pattern, {template_argument()});
      default:
        return pattern(special->pattern, {encoding(false)});
    }
  }
  if (skip("TC")) {
    const Node* const derived = type();
    is_good_ &= number().has_value();
    expect('_');
    const Node* const base = type();
    return pattern("construction vtable for $-in-$", {base, derived});
  }
  if (skip("GR")) {
    const Node* const named = name();
    const std::size_t count = sequence_number();
    return pattern("reference temporary #$ for $", {numeral(count), named});
  }
  if (skip("Tc")) {
    call_offset();
    call_offset();
    return pattern("covariant return thunk to $", {encoding(false)});
  }
  const bool is_virtual = is_at("Tv");
  if (!is_virtual && !is_at("Th")) return refuse();
  advance(1);
  call_offset();
  return pattern(is_virtual ? "virtual thunk to $" : "non-virtual thunk to $", {encoding(false)});
}

void Reader::call_offset() {
  const bool is_virtual = peek() == 'v';
  is_good_ &= skip('h') || skip('v');
  for (int i = 0; i < (is_virtual ? 2 : 1); ++i) {
    signed_number();
    expect('_');
  }
}

const Node* read(std::string_view name, Tree& tree) { return Reader(name, tree).read(); }

}  // namespace landtrace::symbols::cxx
