#include "filter/test_reference.hpp"

#include <algorithm>
#include <bitset>
#include <cctype>
#include <cstring>
#include <set>
#include <vector>

namespace landtrace::filter {
namespace {

using Test = ReferenceFilter;

bool blank(char c) { return std::strchr(" \t\n\v\f\r\xa0", c) != nullptr && c != 0; }

bool letter_or_digit(char c) {
  const auto code = static_cast<unsigned char>(c);
  if (code < 0x80) return std::isalnum(code) != 0;
  return code >= 0xc0 && code != 0xd7 && code != 0xf7;
}

// ---- text ----

struct Span {
  std::uint64_t begin;
  std::uint64_t length;
};

// The kernel's strcmp() or strncmp().
bool is_equal(const ReferenceEntry& entry, Span text, const std::string& pattern) {
  for (std::uint64_t i = 0; text.length == 0 || i < text.length; ++i) {
    const auto wanted = static_cast<std::uint8_t>(pattern.c_str()[i]);
    if (entry.byte(text.begin + i) != wanted) return false;
    if (wanted == 0) return true;
  }
  return true;
}

bool stands_at(const ReferenceEntry& entry, std::uint64_t position, const std::string& pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (entry.byte(position + i) != static_cast<std::uint8_t>(pattern[i])) return false;
  }
  return true;
}

bool is_inside(const ReferenceEntry& entry, Span text, const std::string& pattern) {
  std::uint64_t length = text.length;
  if (length == 0) {
    while (entry.byte(text.begin + length) != 0) ++length;
  }
  for (std::uint64_t i = 0; i + pattern.size() <= length; ++i) {
    if (stands_at(entry, text.begin + i, pattern)) return true;
  }
  return false;
}

using Characters = std::bitset<256>;

struct GlobStep {
  bool repeats;
  Characters accepted;
};

Characters one(char c) { return Characters().set(static_cast<unsigned char>(c)); }

// The class that begins behind the '[' at `at`; moves behind its ']'. nullopt when it has no end.
std::optional<Characters> read_class(const std::string& pattern, std::size_t& at) {
  std::size_t i = at;
  const bool inverted = i < pattern.size() && pattern[i] == '!';
  if (inverted) ++i;
  Characters members;
  for (bool first = true;; first = false) {
    if (i >= pattern.size()) return std::nullopt;
    if (pattern[i] == ']' && !first) break;
    const auto low = static_cast<unsigned char>(pattern[i++]);
    std::size_t high = low;
    if (i < pattern.size() && pattern[i] == '-' && !(i + 1 < pattern.size() && pattern[i + 1] == ']')) {
      if (i + 1 >= pattern.size()) return std::nullopt;
      high = static_cast<unsigned char>(pattern[i + 1]);
      i += 2;
    }
    for (std::size_t c = low; c <= high; ++c) members.set(c);
  }
  at = i + 1;
  return inverted ? ~members : members;
}

std::vector<GlobStep> glob_steps(const std::string& pattern) {
  std::vector<GlobStep> steps;
  for (std::size_t i = 0; i < pattern.size();) {
    const char c = pattern[i++];
    if (c == '*') {
      steps.push_back({true, Characters().set()});
    } else if (c == '?') {
      steps.push_back({false, Characters().set()});
    } else if (c == '[') {
      const auto members = read_class(pattern, i);
      steps.push_back({false, members ? *members : one('[')});
    } else if (c == '\\') {
      if (i < pattern.size()) steps.push_back({false, one(pattern[i++])});
    } else {
      steps.push_back({false, one(c)});
    }
  }
  return steps;
}

// All ways through the pattern at once.
bool is_glob(const ReferenceEntry& entry, std::uint64_t begin, const std::vector<GlobStep>& steps) {
  std::vector<bool> now(steps.size() + 1);
  const auto reach = [&](std::vector<bool>& states, std::size_t state) {
    states[state] = true;
    while (state < steps.size() && steps[state].repeats) states[++state] = true;
  };
  reach(now, 0);
  for (;; ++begin) {
    const std::uint8_t c = entry.byte(begin);
    if (c == 0) return now[steps.size()];
    std::vector<bool> next(steps.size() + 1);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (now[i] && steps[i].accepted[c]) reach(next, steps[i].repeats ? i : i + 1);
    }
    now = std::move(next);
  }
}

using TextTest = std::function<bool(const ReferenceEntry&, Span)>;

TextTest glob_test(std::string pattern) {
  if (!pattern.empty() && std::isdigit(static_cast<unsigned char>(pattern[0])) != 0) {
    return [pattern](const ReferenceEntry& e, Span t) { return is_equal(e, t, pattern); };
  }
  const std::size_t size = pattern.size();
  bool special = pattern.find_first_of("?[\\") != std::string::npos;
  for (std::size_t i = 1; i + 1 < size; ++i) special |= pattern[i] == '*';
  if (special) {
    return [steps = glob_steps(pattern)](const ReferenceEntry& e, Span t) { return is_glob(e, t.begin, steps); };
  }
  const bool head = size > 0 && pattern[0] == '*';
  const bool tail = size > 1 && pattern[size - 1] == '*';
  if (head) pattern.erase(0, 1);
  if (tail) pattern.pop_back();
  return [=](const ReferenceEntry& e, Span t) {
    if (head && tail) return is_inside(e, t, pattern);
    if (head) return t.length > pattern.size() && stands_at(e, t.begin + t.length - 1 - pattern.size(), pattern);
    if (tail) return (t.length == 0 || t.length >= pattern.size()) && stands_at(e, t.begin, pattern);
    return is_equal(e, t, pattern);
  };
}

Span cut(const ReferenceEntry& entry, std::uint64_t begin, std::uint64_t length) {
  const std::uint64_t end = entry.bytes.size();
  begin = std::min(begin, end);
  return {begin, std::min(length, end - begin)};
}

Span text_span(const ReferenceEntry& entry, const FilterField& field) {
  const std::uint64_t position = field.offset + 8ull;
  if (field.kind == FilterFieldClass::kText) return cut(entry, position, field.size);
  const std::uint64_t location = entry.number(position, 4);
  const std::uint64_t base = field.kind == FilterFieldClass::kRelLocText ? position + 4 : 0;
  return cut(entry, base + (location & 0xffff), location >> 16);
}

Test text_predicate(const FilterField& field, const std::string& op, std::string value) {
  bool negated = op == "!=";
  TextTest test = [value](const ReferenceEntry& e, Span t) { return is_equal(e, t, value); };
  if (op == "~") {
    negated = value.starts_with('!');
    test = glob_test(negated ? value.substr(1) : value);
  }
  if (field.kind == FilterFieldClass::kComm) {
    return [=](const ReferenceEntry& entry) {
      ReferenceEntry comm(entry.context, {});
      comm.bytes.assign(entry.context.comm, kCommSize);
      return test(comm, {0, kCommSize}) != negated;
    };
  }
  return [=](const ReferenceEntry& entry) { return test(entry, text_span(entry, field)) != negated; };
}

// ---- numbers ----

std::uint64_t field_number(const ReferenceEntry& entry, const FilterField& field) {
  if (field.kind == FilterFieldClass::kCpu) return entry.context.cpu;
  return entry.number(field.kind == FilterFieldClass::kHeader ? field.offset : field.offset + 8ull, field.size);
}

template <typename T>
bool compare(T a, const std::string& op, T b) {
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  return (a & b) != 0;
}

template <typename Signed, typename Unsigned>
Test compare_as(const FilterField& field, const std::string& op, std::uint64_t value) {
  return [=](const ReferenceEntry& entry) {
    const std::uint64_t got = field_number(entry, field);
    if (field.is_signed) return compare(static_cast<Signed>(got), op, static_cast<Signed>(value));
    return compare(static_cast<Unsigned>(got), op, static_cast<Unsigned>(value));
  };
}

Test number_predicate(const FilterField& field, const std::string& op, std::uint64_t value) {
  const bool is_cpu = field.kind == FilterFieldClass::kCpu;
  const std::uint32_t size = is_cpu ? (op == "&" ? 0 : 4) : field.size;
  if (size == 1) return compare_as<std::int8_t, std::uint8_t>(field, op, value);
  if (size == 2) return compare_as<std::int16_t, std::uint16_t>(field, op, value);
  if (size == 4) return compare_as<std::int32_t, std::uint32_t>(field, op, value);
  if (size == 8) return compare_as<std::int64_t, std::uint64_t>(field, op, value);
  return [](const ReferenceEntry&) { return false; };
}

__extension__ using Wide = unsigned __int128;

std::optional<std::uint64_t> read_number(std::string text, bool is_signed) {
  const bool minus = text.starts_with('-');
  if (minus) text.erase(0, 1);
  if (minus && !is_signed) return std::nullopt;
  unsigned base = 10;
  std::string digits = text;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') &&
      std::isxdigit(static_cast<unsigned char>(text[2])) != 0) {
    base = 16;
    digits = text.substr(2);
  } else if (text.starts_with('0')) {
    base = 8;
  }
  if (digits.empty()) return std::nullopt;
  Wide value = 0;
  for (const char c : digits) {
    const auto code = static_cast<unsigned char>(c);
    if (std::isxdigit(code) == 0) return std::nullopt;
    const unsigned digit = std::isdigit(code) != 0 ? code - '0' : std::tolower(code) - 'a' + 10u;
    if (digit >= base) return std::nullopt;
    value = value * base + digit;  // at most 23 digits, far below 128 bits
  }
  const Wide limit = is_signed ? (Wide{1} << 63) - (minus ? 0 : 1) : ~0ull;
  if (value > limit) return std::nullopt;
  const auto low = static_cast<std::uint64_t>(value);
  return minus ? 0 - low : low;
}

// ---- masks ----

Test cpus_predicate(const FilterField& field, const std::string& op, const CpuMask& mask, std::uint32_t cpus) {
  std::vector<std::uint32_t> members;
  for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
    if (mask.has(cpu)) members.push_back(cpu);
  }
  if (field.kind == FilterFieldClass::kCpuMask) {
    return [=](const ReferenceEntry& entry) {
      const std::uint64_t begin = entry.number(field.offset + 8ull, 4) & 0xffff;
      bool same = true;
      bool common = false;
      for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
        const bool has = (entry.byte(begin + cpu / 8) >> cpu % 8 & 1) != 0;
        same = same && has == mask.has(cpu);
        common = common || (has && mask.has(cpu));
      }
      return op == "&" ? common : same == (op == "==");
    };
  }
  if (members.size() == 1) return number_predicate(field, op == "!=" ? "!=" : "==", members[0]);
  const bool comparable =
      field.kind == FilterFieldClass::kCpu || std::set<std::uint32_t>{1, 2, 4, 8}.contains(field.size);
  return [=](const ReferenceEntry& entry) {
    if (!comparable) return false;
    const std::uint64_t value = field_number(entry, field);
    if (field.kind != FilterFieldClass::kCpu && value >= cpus) return false;
    if (op == "&") return std::find(members.begin(), members.end(), value) != members.end();
    return op == "!=";
  };
}

// ---- the expression ----

struct Refused {};

// Also in what is not looked at, as the end of a list of CPUs behind a newline.
bool is_balanced(std::string_view text) {
  char quote = 0;
  int open = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(') {
      ++open;
    } else if (c == ')' && --open < 0) {
      return false;
    }
  }
  return quote == 0 && open == 0;
}

class Reader {
 public:
  Reader(std::string_view text, const FilterNames& names) : text_(text), names_(names) {}

  // Up to the ')' or the end. Throws Refused.
  Test expression(int depth) {
    std::vector<Test> any;
    std::vector<Test> all;
    char connective = 0;
    for (;;) {
      const bool negated = negations();
      if (at_ == text_.size()) {
        if (depth > 0 || (any.empty() && all.empty()) || (connective == '&' && !any.empty())) throw Refused();
        break;
      }
      Test operand = take("(") ? expression(depth + 1) : predicate();
      all.push_back(negated ? [operand](const ReferenceEntry& e) { return !operand(e); } : operand);
      blanks();
      if (at_ == text_.size()) {
        if (depth > 0) throw Refused();
        break;
      }
      if (take(")")) {
        if (depth == 0) throw Refused();
        break;
      }
      connective = text_[at_];
      if (take("||")) {
        any.push_back(conjunction(std::exchange(all, {})));
      } else if (!take("&&")) {
        throw Refused();
      }
    }
    if (!all.empty()) any.push_back(conjunction(all));
    return
        [any](const ReferenceEntry& e) { return std::any_of(any.begin(), any.end(), [&](auto& t) { return t(e); }); };
  }

 private:
  static Test conjunction(std::vector<Test> all) {
    return
        [all](const ReferenceEntry& e) { return std::all_of(all.begin(), all.end(), [&](auto& t) { return t(e); }); };
  }

  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void blanks() {
    while (at_ < text_.size() && blank(text_[at_])) ++at_;
  }

  bool negations() {
    bool negated = false;
    for (;;) {
      blanks();
      const bool is_operator = text_.substr(at_, 2) == "!=" || text_.substr(at_, 2) == "!~";
      if (is_operator || !take("!")) return negated;
      negated = !negated;
    }
  }

  std::string word() {
    const auto begin = at_;
    while (at_ < text_.size() && (letter_or_digit(text_[at_]) || text_[at_] == '_')) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Test predicate() {
    const auto field = find_filter_field(names_.fields, word());
    if (!field) throw Refused();
    take(".ustring");
    if (take(".function")) throw Refused();  // the tests of this one have no functions
    blanks();
    std::string op;
    for (const char* known : {"~", "!=", "==", "<=", "<", ">=", ">", "&"}) {
      if (op.empty() && take(known)) op = known;
    }
    if (op.empty()) throw Refused();
    blanks();
    if (take("CPUS")) return cpus(*field, op);
    if (take("\"")) return text(*field, op, '"');
    if (take("'")) return text(*field, op, '\'');
    return number(*field, op);
  }

  std::string up_to(char end) {
    const auto found = text_.find(end, at_);
    if (found == std::string_view::npos) throw Refused();
    const std::string value(text_.substr(at_, found - at_));
    at_ = found + 1;
    return value;
  }

  Test cpus(const FilterField& field, const std::string& op) {
    if (is_text(field.kind) || field.kind == FilterFieldClass::kStackTrace) throw Refused();
    if (op != "==" && op != "!=" && op != "&") throw Refused();
    if (!take("{")) throw Refused();
    const std::string list = up_to('}');
    const auto mask = parse_cpu_list(list, names_.cpus);
    if (list.empty() || !mask) throw Refused();
    return cpus_predicate(field, op, *mask, names_.cpus);
  }

  Test text(const FilterField& field, const std::string& op, char quote) {
    const std::string value = up_to(quote);
    if (!is_text(field.kind) || value.size() > 255 || (op != "==" && op != "!=" && op != "~")) throw Refused();
    return text_predicate(field, op, value);
  }

  Test number(const FilterField& field, const std::string& op) {
    if (is_text(field.kind) || op == "~") throw Refused();
    const bool is_minus = at_ < text_.size() && text_[at_] == '-';
    std::string digits = is_minus ? "-" : "";
    if (is_minus) ++at_;
    while (at_ < text_.size() && letter_or_digit(text_[at_])) digits += text_[at_++];
    const auto value = digits.size() > 23 ? std::nullopt : read_number(digits, field.is_signed);
    if (!value) throw Refused();
    return number_predicate(field, op, *value);
  }

  std::string_view text_;
  const FilterNames& names_;
  std::size_t at_ = 0;
};

}  // namespace

ReferenceEntry::ReferenceEntry(const Context& context_in, std::string_view payload) : context(context_in) {
  bytes.assign(reinterpret_cast<const char*>(&context), 8);
  bytes += payload;
}

std::uint64_t ReferenceEntry::number(std::uint64_t position, std::uint32_t size) const {
  std::uint64_t value = 0;
  for (std::uint32_t i = size; i-- > 0;) value = value << 8 | byte(position + i);
  return value;
}

std::optional<ReferenceFilter> reference_filter(std::string_view expression, const FilterNames& names) {
  expression = expression.substr(0, expression.find('\0'));
  if (!is_balanced(expression)) return std::nullopt;
  try {
    return Reader(expression, names).expression(0);
  } catch (const Refused&) {
    return std::nullopt;
  }
}

}  // namespace landtrace::filter
