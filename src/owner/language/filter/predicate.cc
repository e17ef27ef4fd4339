#include "language/filter/predicate.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/character.hpp"
#include "language/filter/number.hpp"

namespace landtrace::language {
namespace {

// Room for "0xfeedfacedeadbeef" and a little more, and for a text, in the kernel.
constexpr std::size_t kMaxNumberText = 23;
constexpr std::size_t kMaxText = 255;

struct Spelling {
  std::string_view text;
  FilterOperator op;
};
// An operator stands before those that it begins with.
constexpr std::array<Spelling, 8> kOperators{{{"~", FilterOperator::kGlob},
                                              {"!=", FilterOperator::kNotEqual},
                                              {"==", FilterOperator::kEqual},
                                              {"<=", FilterOperator::kLessEqual},
                                              {"<", FilterOperator::kLess},
                                              {">=", FilterOperator::kGreaterEqual},
                                              {">", FilterOperator::kGreater},
                                              {"&", FilterOperator::kAnd}}};

class PredicateReader {
 public:
  PredicateReader(std::string_view expression, std::size_t position, const FilterNames& names)
      : text_(expression), at_(position), names_(names) {}

  FilterResult<Predicate> read() {
    const auto name = take_while(is_name_character);
    if (name.empty()) return refuse_filter(EPERM);
    if (!names_.any_field) {
      const auto field = find_filter_field(names_.fields, name);
      if (!field) return refuse_here(FilterFailureKind::kFieldNotFound);
      field_ = *field;
    }
    // The suffix says how to read a pointer to a string. No field of a user event is one; other fields ignore it.
    take(".ustring");
    const bool is_function = take(".function");
    skip_spaces();
    const auto* op =
        std::find_if(kOperators.begin(), kOperators.end(), [&](const Spelling& s) { return take(s.text); });
    if (op == kOperators.end()) return refuse_here(FilterFailureKind::kInvalidOperator);
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
  tl::unexpected<FilterFailure> refuse_at(std::size_t position, FilterFailureKind kind) const {
    return refuse_filter(EINVAL, kind, position + 1);
  }
  tl::unexpected<FilterFailure> refuse_here(FilterFailureKind kind) const { return refuse_at(at_, kind); }

  template <typename Value>
  Predicate predicate(Value value) const {
    return {field_, op_, std::move(value)};
  }

  bool is_equality() const { return op_ == FilterOperator::kEqual || op_ == FilterOperator::kNotEqual; }

  FilterField field_for_value() const {
    if (peek() == '\'' || peek() == '"') return {FilterFieldClass::kText, false, 0, 1};
    return {FilterFieldClass::kNumber, peek() == '-', 0, sizeof(std::uint64_t)};
  }

  FilterResult<Predicate> read_value() {
    if (text_.substr(at_).starts_with("CPUS")) return read_cpus();
    if (peek() == '\'' || peek() == '"') return read_text();
    if (is_digit(peek()) || peek() == '-') return read_number();
    return refuse_here(FilterFailureKind::kInvalidValue);
  }

  FilterResult<Predicate> read_function() {
    if (field_.size != sizeof(std::uint64_t)) return refuse_here(FilterFailureKind::kIllegalFieldOperator);
    if (!is_equality()) return refuse_here(FilterFailureKind::kInvalidOperator);
    std::vector<filter::FunctionRange> ranges;
    if (is_digit(peek())) {
      const auto digits = take_while(is_alnum);
      if (digits.size() > kMaxNumberText) return refuse_here(FilterFailureKind::kOperandTooLong);
      const auto address = parse_unsigned(digits);
      if (!address) return refuse_here(FilterFailureKind::kInvalidValue);
      if (names_.functions != nullptr) ranges = names_.functions->holding(*address);
    } else {
      const auto name = take_while([](char c) { return !is_space(c); });
      if (names_.functions != nullptr && !name.empty()) ranges = names_.functions->named(name);
    }
    if (names_.any_field) ranges.push_back({});
    if (ranges.empty()) return refuse_here(FilterFailureKind::kNoFunction);
    return predicate(FilterFunctions{std::move(ranges)});
  }

  FilterResult<Predicate> read_cpus() {
    const bool is_comparable = field_.kind == FilterFieldClass::kNumber || field_.kind == FilterFieldClass::kHeader ||
                               field_.kind == FilterFieldClass::kCpuMask || field_.kind == FilterFieldClass::kCpu;
    if (!is_comparable || !(is_equality() || op_ == FilterOperator::kAnd)) {
      return refuse_here(FilterFailureKind::kIllegalFieldOperator);
    }
    take("CPUS");
    if (!take("{")) {
      ++at_;  // the kernel's caret stands behind the character that is not one
      return refuse_here(FilterFailureKind::kMissingBraceOpen);
    }
    const auto list = take_while([](char c) { return c != '}'; });
    if (peek() != '}') return refuse_here(FilterFailureKind::kMissingBraceClose);
    if (list.empty()) return refuse_here(FilterFailureKind::kInvalidCpuList);
    auto mask = parse_cpu_list(list, names_.cpus);
    if (!mask) return refuse_here(FilterFailureKind::kInvalidCpuList);
    ++at_;
    return predicate(*std::move(mask));
  }

  FilterResult<Predicate> read_text() {
    if (!is_equality() && op_ != FilterOperator::kGlob) return refuse_here(FilterFailureKind::kIllegalFieldOperator);
    if (!is_text(field_.kind)) return refuse_here(FilterFailureKind::kExpectDigit);
    const char quote = text_[at_++];
    const auto value = take_while([&](char c) { return c != quote; });
    if (peek() != quote) return refuse_here(FilterFailureKind::kMissingQuote);
    if (value.size() > kMaxText) return refuse_here(FilterFailureKind::kOperandTooLong);
    ++at_;
    return predicate(FilterText{std::string(value)});
  }

  FilterResult<Predicate> read_number() {
    if (is_text(field_.kind)) return refuse_here(FilterFailureKind::kExpectString);
    if (op_ == FilterOperator::kGlob) return refuse_here(FilterFailureKind::kIllegalFieldOperator);
    const auto begin = at_;
    take("-");
    take_while(is_alnum);
    const auto digits = text_.substr(begin, at_ - begin);
    if (digits.size() > kMaxNumberText) return refuse_here(FilterFailureKind::kOperandTooLong);
    if (field_.is_signed) {
      const auto value = parse_signed(digits);
      if (!value) return refuse_at(begin, FilterFailureKind::kIllegalInteger);
      return predicate(FilterNumber{static_cast<std::uint64_t>(*value)});
    }
    const auto value = parse_unsigned(digits);
    if (!value) return refuse_at(begin, FilterFailureKind::kIllegalInteger);
    return predicate(FilterNumber{*value});
  }

  std::string_view text_;
  std::size_t at_;
  const FilterNames& names_;
  FilterField field_{};
  FilterOperator op_{};
};

}  // namespace

FilterResult<Predicate> parse_predicate(std::string_view expression, std::size_t& position, const FilterNames& names) {
  PredicateReader reader(expression, position, names);
  auto predicate = reader.read();
  position = reader.position();
  return predicate;
}

}  // namespace landtrace::language
