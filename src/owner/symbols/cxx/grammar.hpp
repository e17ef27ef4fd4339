// The grammar of the Itanium C++ ABI, and what GNU's compilers add to it. Each function is named like what it reads, as
// the ABI calls it. Where a name is not understood, is_good_ is false from then on, and what is returned means nothing.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "symbols/cxx/node.hpp"

namespace landtrace::symbols::cxx {

class Reader {
 public:
  Reader(std::string_view name, Tree& tree)
      : rest_(name), tree_(tree), most_steps_(std::min(kMostSteps, kMostStepsALetter * name.size())) {}

  const Node* read() {
    if (!skip("_Z")) return nullptr;
    const Node* whole = encoding(true);
    while (is_good_ && peek() == '.') whole = clone(whole);
    return is_good_ && rest_.empty() ? whole : nullptr;
  }

 private:
  // Some parts are read one way on trial, and those in them again: what counts is all that is read, which of compilers'
  // names is some 4 times their letters. The tree grows with it, to 15 MB at most.
  static constexpr std::size_t kMostSteps = 1u << 17;
  static constexpr std::size_t kMostStepsALetter = 32;
  static constexpr int kDeepest = 1000;

  struct Deeper {
    explicit Deeper(Reader& reader) : reader_(reader) {
      reader_.is_good_ &= ++reader_.depth_ < kDeepest && ++reader_.steps_ < reader_.most_steps_;
    }
    ~Deeper() { --reader_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    Reader& reader_;
  };

  [[nodiscard]] char peek(std::size_t at = 0) const { return at < rest_.size() ? rest_[at] : '\0'; }
  [[nodiscard]] bool is_at(std::string_view text) const { return rest_.starts_with(text); }
  void advance(std::size_t n) {
    steps_ += n;
    rest_.remove_prefix(std::min(n, rest_.size()));
  }
  bool skip(char c) {
    if (rest_.empty() || peek() != c) return false;
    advance(1);
    return true;
  }
  bool skip(std::string_view text) {
    if (!is_at(text)) return false;
    advance(text.size());
    return true;
  }
  void expect(char c) { is_good_ &= skip(c); }
  const Node* refuse() {
    is_good_ = false;
    return &kNothing;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
  static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

  // A part that is written as it is, no name.
  const Node* text(std::string_view text) { return tree_.add({.text = text}); }
  const Node* numeral(std::size_t value) { return text(tree_.keep(std::to_string(value))); }
  const Node* name_text(std::string_view text) { return tree_.add({.text = text, .is_simple = true}); }
  using Parts = std::span<const Node* const>;
  const Node* pattern(std::string_view text, std::initializer_list<const Node*> parts, bool is_simple = false) {
    return pattern(text, Parts(parts.begin(), parts.size()), is_simple);
  }
  const Node* pattern(std::string_view text, Parts parts, bool is_simple = false) {
    return tree_.add({.kind = Kind::kPattern, .text = text, .parts = tree_.keep(parts), .is_simple = is_simple});
  }
  const Node* list(Parts parts) { return tree_.add({.kind = Kind::kList, .parts = tree_.keep(parts)}); }
  const Node* qualified(const Node* scope, const Node* name) {
    return tree_.add({.kind = Kind::kQualified, .left = scope, .right = name, .is_simple = true});
  }
  const Node* pointer(const Node* to, std::string_view sign) {
    return tree_.add({.kind = Kind::kPointer, .text = sign, .left = to});
  }
  const Node* suffixed(const Node* type, std::string_view suffix) {
    return tree_.add({.kind = Kind::kSuffixed, .text = suffix, .left = type});
  }

  std::optional<std::size_t> number() {
    constexpr std::size_t kMost = 1u << 20;
    if (!is_digit(peek())) return std::nullopt;
    std::size_t value = 0;
    for (; is_digit(peek()) && value < kMost; advance(1)) value = 10 * value + static_cast<std::size_t>(peek() - '0');
    return value;
  }
  // "_" is 0, "0_" is 1
  std::size_t compact_number() {
    const auto value = number();
    expect('_');
    return value ? *value + 1 : 0;
  }
  void discriminator() {
    if (!skip('_')) return;
    const bool is_long = skip('_');
    const auto value = number();
    is_good_ &= value.has_value();
    if (is_long && value.value_or(0) >= 10) expect('_');
  }
  void signed_number() {
    std::ignore = skip('n');
    is_good_ &= number().has_value();
  }

  const Node* candidate(std::size_t number) { return number < candidates_.size() ? candidates_[number] : refuse(); }
  const Node* add_candidate(const Node* node) {
    if (is_good_) candidates_.push_back(node);
    return node;
  }

  // Behind a dot is what the compiler says of a clone.
  const Node* clone(const Node* of);

  // A function or a variable, or what the compiler makes for one.
  const Node* encoding(bool is_outermost);
  const Node* function_or_variable(bool is_outermost);
  [[nodiscard]] bool at_end() const { return rest_.empty() || peek() == 'E' || peek() == '.'; }
  const Node* constraint() { return skip('Q') ? pattern(" requires $", {expression()}) : &kNothing; }
  // Of parameters, up to a reference qualifier or constraints.
  std::vector<const Node*> types();

  const Node* special_name();
  void call_offset();

  const Node* name();
  const Node* with_arguments(const Node* of);

  const Node* nested_name();
  unsigned cv_qualifiers() {
    unsigned all = 0;
    if (skip('r')) all |= kRestrict;
    if (skip('V')) all |= kVolatile;
    if (skip('K')) all |= kConst;
    return all;
  }
  const Node* prefix();

  // `scope`: what it stands in, whose name constructors have.
  const Node* unqualified_name(const Node* scope);
  std::string_view module_name();
  const Node* tags(const Node* of);
  const Node* source_name();
  const Node* structured_binding();
  const Node* operator_name();
  const Node* structor_name(const Node* scope);
  const Node* lambda();
  [[nodiscard]] bool is_at_template_param_declaration() const {
    return peek() == 'T' && std::string_view("ynptk").find(peek(1)) != std::string_view::npos && rest_.size() > 1;
  }
  // A parameter has no name here: "$T0".
  const Node* template_param_declaration();

  const Node* local_name();

  std::size_t sequence_number();
  const Node* substitution(bool is_prefix);
  const Node* template_param();

  std::span<const Node* const> template_arguments();
  const Node* template_argument();

  // The candidate is the whole type, beside those in it.
  const Node* type();
  [[nodiscard]] bool is_at_function_type() const {
    std::size_t at = 0;
    for (const char qualifier : {'r', 'V', 'K'}) at += peek(at) == qualifier ? 1 : 0;
    return peek(at) == 'F' || (peek(at) == 'D' && peek(at + 1) != '\0' &&
                               std::string_view("oOwx").find(peek(at + 1)) != std::string_view::npos);
  }
  const Node* bare_type(bool& is_candidate);
  // What is known of the name of the function stays.
  const Node* type_name();
  const Node* type_of_param();
  // "operator T<int>()" with T = int has the arguments once, "operator T<int>()" with a template T twice.
  bool has_arguments_twice();
  const Node* type_of_two_letters(bool& is_candidate);
  const Node* digits();
  const Node* type_of_substitution(bool& is_candidate);
  const Node* function_type();
  const Node* array_type();

  const Node* literal();

  std::vector<const Node*> expressions(char end);
  const Node* expression();
  const Node* operation();
  // {parm#1} is the first.
  const Node* function_param();
  const Node* fold();
  const Node* conversion();
  const Node* new_expression();
  const Node* captured_pack_length();
  const Node* requirements();
  const Node* destroyed() { return is_digit(peek()) ? member() : type(); }

  // Levels up to an E and a name, or a type and a name: as the first, which has no candidates, if it can be read so.
  const Node* scoped_name();
  // Perhaps with template arguments.
  const Node* member();

  // Unless it is kept, nothing was read.
  class Trial {
   public:
    explicit Trial(Reader& reader)
        : reader_(reader),
          rest_(reader.rest_),
          candidates_(reader.candidates_.size()),
          later_(reader.later_.size()),
          was_good_(reader.is_good_) {}
    ~Trial() {
      if (is_kept_) return;
      reader_.rest_ = rest_;
      reader_.candidates_.resize(candidates_);
      reader_.later_.resize(later_);
      reader_.is_good_ = was_good_ && reader_.steps_ < reader_.most_steps_;
    }
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;
    void keep() const { is_kept_ = true; }

   private:
    Reader& reader_;
    std::string_view rest_;
    std::size_t candidates_;
    std::size_t later_;
    bool was_good_;
    mutable bool is_kept_ = false;
  };

  static constexpr Node kNothing{};

  std::string_view rest_;
  Tree& tree_;
  std::vector<const Node*> candidates_;         // for substitutions
  std::vector<const Node*> lambda_parameters_;  // of the lambda that is read
  std::vector<Node*> later_;                    // parameters whose arguments were not read yet
  // Of the name that was read last.
  unsigned qualifiers_ = 0;
  const Node* template_ = nullptr;  // with the arguments that it ends with
  bool is_without_return_type_ = false;

  bool is_in_conversion_ = false;
  bool is_scope_ = false;  // the function is read for what is in it
  std::size_t most_steps_;
  std::size_t steps_ = 0;
  int depth_ = 0;
  bool is_good_ = true;
};

}  // namespace landtrace::symbols::cxx
