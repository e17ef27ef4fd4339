#include "symbols/cxx/printer.hpp"

#include <array>
#include <bit>
#include <string_view>
#include <utility>

namespace landtrace::symbols::cxx {
namespace {

// A declaration is written around its name, "int (*name) [3]": each part has a left and a right side.
class Printer {
 public:
  explicit Printer(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  bool is_good() const { return is_good_ && text_.size() <= most_bytes_; }
  std::string take() { return std::move(text_); }

  void whole(const Node* node) {
    left(node);
    right(node);
  }

 private:
  // Parts without text, as empty packs of packs, take steps, too.
  static constexpr std::size_t kMostSteps = 1u << 16;
  static constexpr int kDeepest = 1000;
  static constexpr std::size_t kNoIndex = ~std::size_t{0};
  static constexpr Node kNothing{};

  struct Deeper {
    explicit Deeper(Printer& printer) : printer_(printer) {
      printer_.is_good_ &= ++printer_.depth_ < kDeepest && ++printer_.steps_ < kMostSteps &&
                           printer_.text_.size() <= printer_.most_bytes_;
    }
    ~Deeper() { --printer_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Printer& printer_;
  };

  [[nodiscard]] char last() const { return text_.empty() ? '\0' : text_.back(); }

  // Template parameters stand for the arguments of the innermost function, whose own are of the function around it.
  struct Scope {
    std::span<const Node* const> arguments;
    const Scope* outer = nullptr;
    bool is_lambda = false;
  };
  // Where something is written.
  struct Context {
    const Scope* scope = nullptr;
    std::size_t index = kNoIndex;  // in packs
  };
  struct Part {
    const Node* node;
    Context context;
  };
  struct Within {
    Within(Printer& printer, Context context) : printer_(printer), outer_(printer.context_) {
      printer.context_ = context;
    }
    ~Within() { printer_.context_ = outer_; }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
    Printer& printer_;
    Context outer_;
  };

  [[nodiscard]] Part here(const Node* node) const { return {node, context_}; }
  // What a parameter stands for at last.
  Part resolve(Part part) {
    for (int i = 0; i < kDeepest; ++i) {
      const auto& [node, context] = part;
      ++steps_;
      if (node->kind == Kind::kLater && node->left != nullptr) {
        part.node = node->left;
        continue;
      }
      const Scope* const scope = context.scope;
      if (node->kind != Kind::kParameter || (scope != nullptr && scope->is_lambda)) return part;
      if (scope == nullptr || node->number >= scope->arguments.size()) break;
      const Node* argument = scope->arguments[node->number];
      if (argument->kind == Kind::kPack && context.index != kNoIndex) {
        argument = context.index < argument->parts.size() ? argument->parts[context.index] : &kNothing;
      }
      part = {argument, {scope->outer, kNoIndex}};
    }
    is_good_ = false;
    return {&kNothing, {}};
  }
  // Through const and the like.
  Part unqualified(Part part) {
    part = resolve(part);
    for (int i = 0; part.node->kind == Kind::kCv && i < kDeepest; ++i) {
      part = resolve({part.node->left, part.context});
    }
    return part;
  }
  bool has_right(Part part) {
    for (int i = 0; i < kDeepest; ++i) {
      part = unqualified(part);
      const Kind kind = part.node->kind;
      if (kind == Kind::kArray || kind == Kind::kFunction) return true;
      if (kind != Kind::kMember && kind != Kind::kPointer && kind != Kind::kSuffixed) return false;
      part.node = kind == Kind::kMember ? part.node->right : part.node->left;
    }
    return false;
  }
  // A reference to a reference is one: && only if both are. What it is a reference to at last, and how it is written.
  std::pair<Part, std::string_view> collapsed(const Node* node) {
    std::string_view sign = node->text;
    Part to = here(node->left);
    if (sign == "*") return {to, sign};
    for (int i = 0; i < kDeepest; ++i) {
      const Part next = resolve(to);
      if (next.node->kind != Kind::kPointer || next.node->text == "*") return {to, sign};
      if (next.node->text == "&") sign = "&";
      to = {next.node->left, next.context};
    }
    is_good_ = false;
    return {to, sign};
  }
  // The number of elements of the first pack that is written in it, if there is one.
  std::optional<std::size_t> pack_size(const Node* node) {
    for (std::uint64_t left = node->parameters; left != 0; left &= left - 1) {
      const Scope* const scope = context_.scope;
      const auto number = static_cast<std::size_t>(std::countr_zero(left));
      if (scope == nullptr || scope->is_lambda || number >= scope->arguments.size()) continue;
      const Part argument = resolve({scope->arguments[number], {scope->outer, kNoIndex}});
      if (argument.node->kind == Kind::kPack) return argument.node->parts.size();
    }
    return std::nullopt;
  }

  void left(const Part& part) {
    const Within within(*this, part.context);
    left(part.node);
  }
  void right(const Part& part) {
    const Within within(*this, part.context);
    right(part.node);
  }

  void left(const Node* node) {
    const Deeper deeper(*this);
    if (!is_good_) return;
    switch (node->kind) {
      case Kind::kText:
        text_ += node->text;
        return;
      case Kind::kPattern:
        return pattern(node);
      case Kind::kList:
      case Kind::kPack:
        return list(node->parts);
      case Kind::kParameter:
        if (is_in_lambda()) {
          const auto named = context_.scope->arguments;
          if (node->number < named.size()) return whole(named[node->number]);
          text_ += "auto:" + std::to_string(node->number + 1);
          return;
        }
        return left(resolve(here(node)));
      case Kind::kLambda: {
        const Scope scope{.arguments = node->parts, .outer = context_.scope, .is_lambda = true};
        const Within within(*this, {&scope, kNoIndex});
        return whole(node->left);
      }
      case Kind::kQualified:
        whole(node->left);
        text_ += "::";
        return whole(node->right);
      case Kind::kTemplate:
        return template_name(node);
      case Kind::kFunction:
        if (node->right != nullptr) {
          const Scope scope = scope_of(node);
          const Within within(*this, context_of(node, scope));
          left(node->right);
          if (!has_right(here(node->right))) text_ += ' ';
        }
        if (node->left != nullptr) whole(node->left);
        return;
      case Kind::kSuffixed:
        left(node->left);
        text_ += node->text;
        return;
      case Kind::kCv:
        return qualified(node);
      case Kind::kPointer: {
        const auto [to, sign] = collapsed(node);
        left(to);
        open_bracket(to);
        text_ += sign;
        return;
      }
      case Kind::kMember:
        left(node->right);
        open_bracket(here(node->right));
        if (last() != '(') text_ += ' ';
        whole(node->left);
        text_ += "::*";
        return;
      case Kind::kArray:
        return left(node->left);
      case Kind::kVector:
        whole(node->left);
        text_ += " __vector(";
        if (node->right != nullptr) whole(node->right);
        text_ += ')';
        return;
      case Kind::kExpansion:
        return expansion(node);
      case Kind::kPackLength:
        if (const auto size = pack_size(node->left)) {
          text_ += std::to_string(*size);
          return;
        }
        text_ += "sizeof...";
        return operand(node->left);
      case Kind::kLater:
        return left(resolve(here(node)));
      case Kind::kLiteral:
        return literal(node);
    }
  }

  void right(const Node* node) {
    const Deeper deeper(*this);
    if (!is_good_) return;
    switch (node->kind) {
      case Kind::kParameter:
        if (!is_in_lambda()) right(resolve(here(node)));
        return;
      case Kind::kLater:
        return right(resolve(here(node)));
      case Kind::kFunction:
        return parameters(node);
      case Kind::kCv:
      case Kind::kSuffixed:
        return right(node->left);
      case Kind::kPointer: {
        const Part to = collapsed(node).first;
        close_bracket(to);
        return right(to);
      }
      case Kind::kMember:
        close_bracket(here(node->right));
        return right(node->right);
      case Kind::kArray:
        if (last() != ']') text_ += ' ';
        text_ += '[';
        if (node->right != nullptr) whole(node->right);
        text_ += ']';
        return right(node->left);
      default:
        return;
    }
  }

  [[nodiscard]] bool is_in_lambda() const { return context_.scope != nullptr && context_.scope->is_lambda; }
  [[nodiscard]] Scope scope_of(const Node* function) const {
    if (function->scope == nullptr) return {};
    return {.arguments = function->scope->parts, .outer = context_.scope};
  }
  [[nodiscard]] Context context_of(const Node* function, const Scope& scope) const {
    return function->scope == nullptr ? context_ : Context{&scope, kNoIndex};
  }
  void open_bracket(Part inner) {
    const Kind kind = unqualified(inner).node->kind;
    if (kind == Kind::kArray) {
      text_ += " (";
    } else if (kind == Kind::kFunction) {
      if (last() != '(' && last() != '*' && last() != ' ') text_ += ' ';
      text_ += '(';
    }
  }
  void close_bracket(Part inner) {
    const Kind kind = unqualified(inner).node->kind;
    if (kind == Kind::kArray || kind == Kind::kFunction) text_ += ')';
  }
  // Those that are said twice are written as the outer one. Functions have none.
  void qualified(const Node* node) {
    std::array<std::string_view, 3> behind;
    std::size_t count = 0;
    unsigned seen = 0;
    Part inner = here(node);
    for (int i = 0; inner.node->kind == Kind::kCv && i < kDeepest; ++i) {
      const unsigned number = inner.node->number;
      if ((seen & number) == 0) {
        seen |= number;
        behind[count++] = number == kConst ? " const" : number == kVolatile ? " volatile" : " restrict";
      }
      inner = resolve({inner.node->left, inner.context});
    }
    left(inner);
    if (inner.node->kind == Kind::kFunction) return;
    while (count > 0) text_ += behind[--count];
  }
  void parameters(const Node* node) {
    const Scope scope = scope_of(node);
    const Within within(*this, context_of(node, scope));
    text_ += '(';
    list(node->parts);
    text_ += ')';
    if (node->number & kConst) text_ += " const";
    if (node->number & kVolatile) text_ += " volatile";
    if (node->number & kRestrict) text_ += " restrict";
    if (node->number & kLvalue) text_ += " &";
    if (node->number & kRvalue) text_ += " &&";
    if (node->right != nullptr) right(node->right);
    if (node->third != nullptr) whole(node->third);
  }
  void template_name(const Node* node) {
    whole(node->left);
    if (last() == '<') text_ += ' ';
    text_ += '<';
    list(node->parts);
    if (last() == '>') text_ += ' ';
    text_ += '>';
  }
  // A comma stands between what has text.
  void item(const Node* node, bool& is_first) {
    const std::size_t before = text_.size();
    if (!is_first) text_ += ", ";
    const std::size_t begin = text_.size();
    whole(node);
    if (text_.size() == begin) {
      text_.resize(before);
    } else {
      is_first = false;
    }
  }
  void list(std::span<const Node* const> parts) {
    bool is_first = true;
    for (const Node* part : parts) {
      if (is_good_) item(part, is_first);
    }
  }
  void expansion(const Node* node) {
    const auto size = pack_size(node->left);
    if (!size) {
      operand(node->left);
      text_ += "...";
      return;
    }
    bool is_first = true;
    for (std::size_t i = 0; i < *size && is_good_; ++i) {
      const Within within(*this, {context_.scope, i});
      item(node->left, is_first);
    }
  }
  void pattern(const Node* node) {
    auto part = node->parts.begin();
    for (const char c : node->text) {
      if ((c != '$' && c != '@') || part == node->parts.end()) {
        text_ += c;
        continue;
      }
      if (c == '$') {
        whole(*part++);
      } else {
        operand(*part++);
      }
    }
  }
  void operand(const Node* node) {
    if (node->is_simple) return whole(node);
    text_ += '(';
    whole(node);
    text_ += ')';
  }
  void literal(const Node* node) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSuffixes{{{"int", ""},
                                                                                      {"unsigned int", "u"},
                                                                                      {"long", "l"},
                                                                                      {"unsigned long", "ul"},
                                                                                      {"long long", "ll"},
                                                                                      {"unsigned long long", "ull"}}};
    const bool is_builtin = node->left->kind == Kind::kText && !node->left->is_simple;
    const std::string_view type = is_builtin ? node->left->text : std::string_view();
    std::string_view value = node->text;
    if (type == "bool" && (value == "0" || value == "1")) {
      text_ += value == "1" ? "true" : "false";
      return;
    }
    const bool is_negative = value.starts_with('n');
    if (is_negative) value.remove_prefix(1);
    for (const auto& [of, suffix] : kSuffixes) {
      if (type != of) continue;
      if (is_negative) text_ += '-';
      text_ += value;
      text_ += suffix;
      return;
    }
    text_ += '(';
    whole(node->left);
    text_ += ')';
    if (is_negative) text_ += '-';
    const bool is_floating = type == "float" || type == "double" || type == "long double" || type == "__float128";
    if (is_floating) text_ += '[';
    text_ += value;
    if (is_floating) text_ += ']';
  }

  std::size_t most_bytes_;
  std::string text_;
  Context context_;
  std::size_t steps_ = 0;
  int depth_ = 0;
  bool is_good_ = true;
};

}  // namespace

std::optional<std::string> print(const Node& name, std::size_t most_bytes) {
  Printer printer(most_bytes);
  printer.whole(&name);
  if (!printer.is_good()) return std::nullopt;
  return printer.take();
}

}  // namespace landtrace::symbols::cxx
