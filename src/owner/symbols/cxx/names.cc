#include "symbols/cxx/codes.hpp"
#include "symbols/cxx/grammar.hpp"

namespace landtrace::symbols::cxx {

const Node* Reader::name() {
  const Deeper deeper(*this);
  if (!is_good_) return &kNothing;
  template_ = nullptr;
  is_without_return_type_ = false;
  if (peek() == 'N') return nested_name();
  if (peek() == 'Z') return local_name();
  const bool is_std = skip("St");
  const bool is_substitution = !is_std && peek() == 'S';
  const Node* named = is_substitution ? substitution(false) : unqualified_name(nullptr);
  if (is_std) named = qualified(text("std"), named);
  if (peek() != 'I') return named;
  if (!is_substitution) add_candidate(named);
  return with_arguments(named);
}

const Node* Reader::nested_name() {
  expect('N');
  std::ignore = skip('H');  // "this" is a parameter
  unsigned qualifiers = cv_qualifiers();
  if (skip('R')) qualifiers |= kLvalue;
  if (skip('O')) qualifiers |= kRvalue;
  const Node* const named = prefix();
  expect('E');
  qualifiers_ = qualifiers;
  return named;
}

const Node* Reader::prefix() {
  const Node* all = nullptr;
  std::size_t first_later = later_.size();
  while (is_good_ && peek() != 'E') {
    const char c = peek();
    bool is_candidate = true;
    if (c == 'M' && all != nullptr) {
      advance(1);
      continue;
    }
    if (c == 'I') {
      if (all == nullptr) return refuse();
      const std::size_t waiting = later_.size();  // what is added by these arguments waits for others, further out
      all = with_arguments(all);
      if (!is_good_) return refuse();
      for (std::size_t i = first_later; i < waiting; ++i) {
        if (later_[i]->number >= all->parts.size()) return refuse();
        later_[i]->left = all->parts[later_[i]->number];
      }
      later_.erase(later_.begin() + static_cast<std::ptrdiff_t>(first_later),
                   later_.begin() + static_cast<std::ptrdiff_t>(waiting));
    } else {
      first_later = later_.size();
      template_ = nullptr;
      is_without_return_type_ = false;
      const Node* part = nullptr;
      if (is_at("St")) {
        advance(2);
        part = text("std");
        is_candidate = false;
      } else if (c == 'S') {
        part = substitution(true);
        is_candidate = false;
      } else if (c == 'T') {
        part = template_param();
      } else if (is_at("DT") || is_at("Dt")) {
        if (all != nullptr) return refuse();
        part = type();
        is_candidate = false;  // it is one already
      } else {
        part = unqualified_name(all);
      }
      all = all != nullptr ? qualified(all, part) : part;
    }
    if (is_candidate && peek() != 'E') add_candidate(all);
  }
  return all != nullptr ? all : refuse();
}

const Node* Reader::unqualified_name(const Node* scope) {
  const Deeper deeper(*this);
  if (!is_good_) return &kNothing;
  is_without_return_type_ = false;
  std::vector<std::string_view> modules;
  for (; is_good_ && peek() == 'W'; add_candidate(text(modules.back()))) modules.push_back(module_name());
  const bool is_friend = skip('F');
  const Node* named = nullptr;
  const char c = peek();
  if (is_digit(c)) {
    named = source_name();
  } else if (is_at("DC")) {
    named = structured_binding();
  } else if (is_lower(c)) {
    std::ignore = skip("on");
    named = operator_name();
  } else if (c == 'C' || c == 'D') {
    named = structor_name(scope);
  } else if (skip('L')) {
    named = source_name();
    discriminator();
  } else if (skip("Ul")) {
    named = lambda();
  } else if (skip("Ut")) {
    const std::size_t number = compact_number() + 1;
    named = pattern("{unnamed type#$}", {numeral(number)});
  } else {
    return refuse();
  }
  template_ = nullptr;
  for (const std::string_view module : modules) named = pattern("$$$", {named, text("@"), text(module)});
  named = tags(named);
  return is_friend ? pattern("$[friend]", {named}) : named;
}

std::string_view Reader::module_name() {
  expect('W');
  std::ignore = skip('P');
  return source_name()->text;
}

const Node* Reader::tags(const Node* of) {
  while (is_good_ && skip('B')) of = pattern("$[abi:$]", {of, source_name()}, true);
  return of;
}

const Node* Reader::source_name() {
  const auto length = number();
  if (!length || *length == 0 || *length > rest_.size()) return refuse();
  const std::string_view of = rest_.substr(0, *length);
  advance(*length);
  const bool is_anonymous = of.size() >= 10 && of.starts_with("_GLOBAL_") && of[9] == 'N' &&
                            std::string_view("._$").find(of[8]) != std::string_view::npos;
  return name_text(is_anonymous ? "(anonymous namespace)" : of);
}

const Node* Reader::structured_binding() {
  std::vector<const Node*> names;
  if (!skip("DC")) return refuse();
  while (is_good_ && !skip('E')) names.push_back(source_name());
  return pattern("[$]", {list(names)});
}

const Node* Reader::operator_name() {
  if (skip("li")) return pattern("operator\"\" $", {source_name()});
  if (skip("cv")) {
    // Its parameters are those of arguments that stand behind it.
    const bool was = std::exchange(is_in_conversion_, true);
    const Node* const to = type();
    is_in_conversion_ = was;
    template_ = nullptr;
    is_without_return_type_ = true;
    return pattern("operator $", {to});
  }
  // Of a vendor: the number of its operands, and its name.
  if (peek() == 'v' && is_digit(peek(1))) {
    advance(2);
    return pattern("operator $", {source_name()});
  }
  const Code* const code = find_code(kOperatorNames, rest_);
  if (code == nullptr) return refuse();
  advance(2);
  return pattern("operator$", {text(code->text)});
}

const Node* Reader::structor_name(const Node* scope) {
  if (scope == nullptr) return refuse();
  const bool is_constructor = skip('C');
  if (!is_constructor) expect('D');
  const bool is_inherited = is_constructor && skip('I');
  is_good_ &= is_digit(peek());
  advance(1);
  const Node* base = scope;
  if (is_inherited) base = type();
  template_ = nullptr;
  is_without_return_type_ = true;
  while (base->kind == Kind::kTemplate || base->kind == Kind::kQualified ||
         (base->kind == Kind::kPattern && base->text == "$[abi:$]")) {
    base = base->kind == Kind::kQualified ? base->right : base->kind == Kind::kTemplate ? base->left : base->parts[0];
  }
  return pattern(is_constructor ? "$" : "~$", {base});
}

const Node* Reader::lambda() {
  const bool was = std::exchange(is_in_conversion_, false);
  auto own = std::exchange(lambda_parameters_, {});
  std::vector<const Node*> head;
  while (is_good_ && is_at_template_param_declaration()) head.push_back(template_param_declaration());
  const Node* const before = constraint();
  const auto parameters = types();
  const Node* const behind = constraint();
  expect('E');
  const std::size_t number = compact_number() + 1;
  is_in_conversion_ = was;
  is_without_return_type_ = false;
  std::swap(own, lambda_parameters_);
  const Node* const count = numeral(number);
  const Node* const templated = head.empty() ? &kNothing : pattern("<$>", {list(head)});
  const Node* const whole = pattern("{lambda$$($)$#$}", {templated, before, list(parameters), behind, count});
  return tree_.add({.kind = Kind::kLambda, .left = whole, .parts = tree_.keep(own)});
}

const Node* Reader::local_name() {
  expect('Z');
  const bool was_scope = std::exchange(is_scope_, true);
  const Node* const function = encoding(false);
  is_scope_ = was_scope;
  expect('E');
  qualifiers_ = 0;
  template_ = nullptr;
  is_without_return_type_ = false;
  if (skip('s')) {
    discriminator();
    return qualified(function, text("string literal"));
  }
  const Node* scope = function;
  if (skip('d')) {
    const std::size_t number = compact_number() + 1;
    scope = qualified(scope, pattern("{default arg#$}", {numeral(number)}));
  }
  const bool has_own_number = peek() == 'U';
  const Node* const named = name();
  if (!has_own_number) discriminator();
  return qualified(scope, named);
}

}  // namespace landtrace::symbols::cxx
