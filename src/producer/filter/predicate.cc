#include "filter/predicate.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "filter/character.hpp"
#include "filter/number.hpp"

namespace landtrace::filter {
namespace {

// Room for "0xfeedfacedeadbeef" and a little more, and for a text, in the kernel.
constexpr std::size_t kMaxNumberText = 23;
constexpr std::size_t kMaxText = 255;

struct Spelling {
  std::string_view text;
  Operator op;
};
// The longer before those that they begin with.
constexpr std::array<Spelling, 8> kOperators{{{"~", Operator::kGlob},
                                              {"!=", Operator::kNotEqual},
                                              {"==", Operator::kEqual},
                                              {"<=", Operator::kLessEqual},
                                              {"<", Operator::kLess},
                                              {">=", Operator::kGreaterEqual},
                                              {">", Operator::kGreater},
                                              {"&", Operator::kAnd}}};

class PredicateReader {
 public:
  PredicateReader(std::string_view expression, std::size_t position, const Names& names)
      : text_(expression), at_(position), names_(names) {}

  Parsed<Predicate> read() {
    const auto name = take_while(is_name_character);
    if (name.empty()) return refuse(EPERM);
    if (!names_.any_field) {
      const auto field = find_field(names_.fields, name);
      if (!field) return refuse_here(FailureKind::kFieldNotFound);
      field_ = *field;
    }
    // The suffix says how to read a pointer to a string; no field of a user event is one, and on others it is nothing.
    take(".ustring");
    const bool is_function = take(".function");
    skip_spaces();
    const auto* op =
        std::find_if(kOperators.begin(), kOperators.end(), [&](const Spelling& s) { return take(s.text); });
    if (op == kOperators.end()) return refuse_here(FailureKind::kInvalidOperator);
    op_ = op->op;
    skip_spaces();
    if (names_.any_field) field_ = field_for_value();
    return is_function ? read_function() : read_value();
  }

  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  static bool is_name_character(char c) { return is_alnum(c) || c == '_'; }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  template <typename Accepts>
  std::string_view take_while(Accepts accepts) {
    const auto begin = at_;
    while (at_ < text_.size() && accepts(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  void skip_spaces() { take_while(is_space); }

  // The kernel counts from the predicate's second character.
  tl::unexpected<Failure> refuse_at(std::size_t position, FailureKind kind) const {
    return refuse(EINVAL, kind, position + 1);
  }
  tl::unexpected<Failure> refuse_here(FailureKind kind) const { return refuse_at(at_, kind); }

  template <typename Value>
  Predicate predicate(Value value) const {
    return {field_, op_, std::move(value)};
  }

  bool is_equality() const { return op_ == Operator::kEqual || op_ == Operator::kNotEqual; }

  FieldView field_for_value() const {
    if (peek() == '\'' || peek() == '"') return {FieldClass::kText, false, 0, 1};
    return {FieldClass::kNumber, peek() == '-', 0, sizeof(std::uint64_t)};
  }

  Parsed<Predicate> read_value() {
    if (text_.substr(at_).starts_with("CPUS")) return read_cpus();
    if (peek() == '\'' || peek() == '"') return read_text();
    if (is_digit(peek()) || peek() == '-') return read_number();
    return refuse_here(FailureKind::kInvalidValue);
  }

  Parsed<Predicate> read_function() {
    if (field_.size != sizeof(std::uint64_t)) return refuse_here(FailureKind::kIllegalFieldOperator);
    if (!is_equality()) return refuse_here(FailureKind::kInvalidOperator);
    std::vector<FunctionRange> ranges;
    if (is_digit(peek())) {
      const auto digits = take_while(is_alnum);
      if (digits.size() > kMaxNumberText) return refuse_here(FailureKind::kOperandTooLong);
      const auto address = parse_unsigned(digits);
      if (!address) return refuse_here(FailureKind::kInvalidValue);
      if (names_.functions != nullptr) ranges = names_.functions->holding(*address);
    } else {
      const auto name = take_while([](char c) { return !is_space(c); });
      if (names_.functions != nullptr && !name.empty()) ranges = names_.functions->named(name);
    }
    if (names_.any_field) ranges.push_back({});
    if (ranges.empty()) return refuse_here(FailureKind::kNoFunction);
    return predicate(Functions{std::move(ranges)});
  }

  Parsed<Predicate> read_cpus() {
    const bool is_comparable = field_.kind == FieldClass::kNumber || field_.kind == FieldClass::kHeader ||
                               field_.kind == FieldClass::kCpuMask || field_.kind == FieldClass::kCpu;
    if (!is_comparable || !(is_equality() || op_ == Operator::kAnd)) {
      return refuse_here(FailureKind::kIllegalFieldOperator);
    }
    take("CPUS");
    if (!take("{")) {
      ++at_;  // the kernel's caret stands behind the character that is not one
      return refuse_here(FailureKind::kMissingBraceOpen);
    }
    const auto list = take_while([](char c) { return c != '}'; });
    if (peek() != '}') return refuse_here(FailureKind::kMissingBraceClose);
    if (list.empty()) return refuse_here(FailureKind::kInvalidCpuList);
    auto mask = parse_cpu_list(list, names_.cpus);
    if (!mask) return refuse_here(FailureKind::kInvalidCpuList);
    ++at_;
    return predicate(*std::move(mask));
  }

  Parsed<Predicate> read_text() {
    if (!is_equality() && op_ != Operator::kGlob) return refuse_here(FailureKind::kIllegalFieldOperator);
    if (!is_text(field_.kind)) return refuse_here(FailureKind::kExpectDigit);
    const char quote = text_[at_++];
    const auto value = take_while([&](char c) { return c != quote; });
    if (peek() != quote) return refuse_here(FailureKind::kMissingQuote);
    if (value.size() > kMaxText) return refuse_here(FailureKind::kOperandTooLong);
    ++at_;
    return predicate(Text{std::string(value)});
  }

  Parsed<Predicate> read_number() {
    if (is_text(field_.kind)) return refuse_here(FailureKind::kExpectString);
    if (op_ == Operator::kGlob) return refuse_here(FailureKind::kIllegalFieldOperator);
    const auto begin = at_;
    take("-");
    take_while(is_alnum);
    const auto digits = text_.substr(begin, at_ - begin);
    if (digits.size() > kMaxNumberText) return refuse_here(FailureKind::kOperandTooLong);
    if (field_.is_signed) {
      const auto value = parse_signed(digits);
      if (!value) return refuse_at(begin, FailureKind::kIllegalInteger);
      return predicate(Number{static_cast<std::uint64_t>(*value)});
    }
    const auto value = parse_unsigned(digits);
    if (!value) return refuse_at(begin, FailureKind::kIllegalInteger);
    return predicate(Number{*value});
  }

  std::string_view text_;
  std::size_t at_;
  const Names& names_;
  FieldView field_{};
  Operator op_{};
};

}  // namespace

Parsed<Predicate> parse_predicate(std::string_view expression, std::size_t& position, const Names& names) {
  PredicateReader reader(expression, position, names);
  auto predicate = reader.read();
  position = reader.position();
  return predicate;
}

}  // namespace landtrace::filter
