#include "language/filter/compile.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/character.hpp"
#include "language/filter/balance.hpp"
#include "language/filter/program_builder.hpp"
#include "language/filter/text.hpp"

namespace landtrace::language {
namespace {

// The jumps that leave a part of the program and whose target is not known yet: a list through the jumps themselves.
struct Exits {
  static constexpr std::uint32_t kNone = ~0u;
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
};

// A part of the expression, compiled: where it begins, and its two ways out.
struct Part {
  std::uint16_t begin;
  Exits when_true;
  Exits when_false;
};

// The jumps of all ops. Jump 2n is op n's on_match, 2n + 1 its on_mismatch.
class Jumps {
 public:
  explicit Jumps(std::vector<filter::Op>& ops) : ops_(ops) {}

  Part part_of_last_op() {
    const auto op = static_cast<std::uint32_t>(ops_.size() - 1);
    next_.resize(ops_.size() * 2, Exits::kNone);
    return {static_cast<std::uint16_t>(op), {2 * op, 2 * op}, {2 * op + 1, 2 * op + 1}};
  }

  void lead(const Exits& exits, std::uint16_t target) {
    for (std::uint32_t jump = exits.first; jump != Exits::kNone; jump = next_[jump]) {
      filter::Op& op = ops_[jump / 2];
      (jump % 2 == 0 ? op.on_match : op.on_mismatch) = target;
    }
  }

  Part both(const Part& a, const Part& b) {
    lead(a.when_true, b.begin);
    return {a.begin, b.when_true, join(a.when_false, b.when_false)};
  }

  Part either(const Part& a, const Part& b) {
    lead(a.when_false, b.begin);
    return {a.begin, join(a.when_true, b.when_true), b.when_false};
  }

 private:
  Exits join(const Exits& a, const Exits& b) {
    next_[a.last] = b.first;
    return {a.first, b.last};
  }

  std::vector<filter::Op>& ops_;
  std::vector<std::uint32_t> next_;
};

Part opposite(const Part& part) { return {part.begin, part.when_false, part.when_true}; }

// What is open: the whole expression, or a parenthesis. `all` collects operands of &&, `any` of ||.
struct Level {
  bool is_negated = false;
  std::optional<Part> any;
  std::optional<Part> all;
};

class Compiler {
 public:
  Compiler(std::string_view text, const FilterNames& names)
      : text_(text), names_(names), builder_(names.cpus), jumps_(builder_.ops()), levels_(1) {}

  FilterResult<ProgramBuffer> compile() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_space(c)) {
        ++at_;
      } else if (c == '(') {
        ++at_;
        levels_.push_back({std::exchange(is_negated_, false), {}, {}});
      } else if (is_not()) {
        ++at_;
        is_negated_ = !is_negated_;
      } else {
        if (auto failed = read_operand(); !failed) return tl::unexpected(failed.error());
      }
    }
    return finish();
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  bool is_not() const { return peek() == '!' && peek(1) != '=' && peek(1) != '~'; }

  // A predicate, and all that may follow it up to the next operand.
  FilterResult<void> read_operand() {
    const auto predicate = parse_predicate(text_, at_, names_);
    if (!predicate) return tl::unexpected(predicate.error());
    const bool is_opposite = builder_.add(*predicate) != std::exchange(is_negated_, false);
    if (!builder_.fits()) return refuse_filter(E2BIG);
    const Part part = jumps_.part_of_last_op();
    add_operand(is_opposite ? opposite(part) : part);
    ends_in_and_ = false;
    return read_connective();
  }

  FilterResult<void> read_connective() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (is_space(c)) continue;
      if (c == ')') {
        if (levels_.size() == 1) return refuse_filter(EPERM, FilterFailureKind::kTooManyClose, at_);
        close();
        continue;
      }
      if ((c != '&' && c != '|') || peek() != c)
        return refuse_filter(EPERM, FilterFailureKind::kTooManyPredicates, at_ - 1);
      ++at_;
      if (c == '|') end_all(levels_.back());
      ends_in_and_ = c == '&';
      return {};
    }
    return {};
  }

  void add_operand(const Part& part) {
    auto& all = levels_.back().all;
    all = all ? jumps_.both(*all, part) : part;
  }

  void end_all(Level& level) {
    if (!level.all) return;
    level.any = level.any ? jumps_.either(*level.any, *level.all) : *level.all;
    level.all.reset();
  }

  void close() {
    Level level = levels_.back();
    levels_.pop_back();
    end_all(level);
    add_operand(level.is_negated ? opposite(*level.any) : *level.any);
  }

  // An operator with nothing behind it does not count, but for an && after an ||.
  FilterResult<ProgramBuffer> finish() {
    if (levels_.size() != 1) return refuse_filter(EPERM, FilterFailureKind::kTooManyOpen, at_);
    if (builder_.ops().empty()) return refuse_filter(EINVAL, FilterFailureKind::kNoFilter, at_);
    Level& whole = levels_.back();
    if (whole.any && ends_in_and_) return refuse_filter(EINVAL);
    end_all(whole);
    jumps_.lead(whole.any->when_true, filter::Op::kPass);
    jumps_.lead(whole.any->when_false, filter::Op::kReject);
    return builder_.finish();
  }

  std::string_view text_;
  const FilterNames& names_;
  std::size_t at_ = 0;
  bool is_negated_ = false;
  bool ends_in_and_ = false;  // nothing was read behind the last &&
  ProgramBuilder builder_;
  Jumps jumps_;
  std::vector<Level> levels_;
};

}  // namespace

FilterResult<ProgramBuffer> compile_filter(std::string_view expression, const FilterNames& names) {
  expression = expression.substr(0, expression.find('\0'));
  if (expression.size() > kMaxFilter) return refuse_filter(EINVAL);
  if (auto balanced = check_balance(expression); !balanced) return tl::unexpected(balanced.error());
  const FilterNames bounded{names.fields, std::clamp<std::uint32_t>(names.cpus, 1, filter::kMaxCpus), names.functions,
                            names.any_field};
  return Compiler(expression, bounded).compile();
}

FilterResult<void> check_filter(std::string_view expression) {
  const auto compiled = compile_filter(expression, {.fields = {}, .cpus = filter::kMaxCpus, .any_field = true});
  if (!compiled) return tl::unexpected(compiled.error());
  return {};
}

bool filter_fits(std::string_view expression, const FilterNames& names) {
  return compile_filter(expression, names).has_value();
}

}  // namespace landtrace::language
