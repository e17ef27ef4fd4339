#include "symbols/demangled_size.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

namespace landtrace::symbols {
namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

std::uint64_t add(std::uint64_t a, std::uint64_t b) { return a > kUnknown - b ? kUnknown : a + b; }
std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kUnknown : product;
}

// What a part is printed as: so many bytes, and so many of the arguments of the template that it is in.
struct Size {
  std::uint64_t bytes = 0;
  std::uint64_t arguments = 0;

  Size& operator+=(const Size& other) {
    bytes = add(bytes, other.bytes);
    arguments = add(arguments, other.arguments);
    return *this;
  }
  [[nodiscard]] Size times(std::uint64_t n) const { return {multiply(bytes, n), multiply(arguments, n)}; }
};

constexpr int kNoList = -1;

// A name that ends with template arguments has these as a list, by number.
struct Part {
  Size size;
  int list = kNoList;
};

// How many operands follow an operator. Of those that are missing here no name is understood.
struct Operator {
  char code[3];
  int operands;
};
constexpr std::array kOperators = std::to_array<Operator>({
    {"aN", 2}, {"aS", 2}, {"aa", 2}, {"ad", 1}, {"an", 2}, {"aw", 1}, {"az", 1}, {"cl", 2}, {"cm", 2}, {"co", 1},
    {"dV", 2}, {"da", 1}, {"de", 1}, {"dl", 1}, {"ds", 2}, {"dt", 2}, {"dv", 2}, {"eO", 2}, {"eo", 2}, {"eq", 2},
    {"ge", 2}, {"gs", 1}, {"gt", 2}, {"ix", 2}, {"lS", 2}, {"le", 2}, {"ls", 2}, {"lt", 2}, {"mI", 2}, {"mL", 2},
    {"mi", 2}, {"ml", 2}, {"mm", 1}, {"na", 3}, {"ne", 2}, {"ng", 1}, {"nt", 1}, {"nw", 3}, {"oR", 2}, {"oo", 2},
    {"or", 2}, {"pL", 2}, {"pl", 2}, {"pm", 2}, {"pp", 1}, {"ps", 1}, {"pt", 2}, {"qu", 3}, {"rM", 2}, {"rS", 2},
    {"rm", 2}, {"rs", 2}, {"ss", 2}, {"sz", 1}, {"tw", 1},
});

// The grammar of the Itanium C++ ABI as GNU's demangler reads it, by which it counts the substitutions. Each function
// is named like what it reads.
class NameReader {
 public:
  NameReader(std::string_view name, std::uint64_t longest_list) : rest_(name), longest_list_(longest_list) {}

  // False: it is not understood.
  bool read() {
    if (!skip('_') || !skip('Z')) return false;
    const Size whole = encoding().size;
    // Behind a dot is what the compiler says of a clone: ".a" is printed as " [clone .a]".
    if (!is_good_ || !(rest_.empty() || rest_.front() == '.')) return false;
    // Arguments may be printed with those of the function that theirs is in.
    std::uint64_t argument = 0;
    for (std::size_t i = 0; i < encodings_; ++i) {
      std::uint64_t longest = 0;
      for (const auto& arguments : lists_) {
        if (!arguments.is_of_function && !has_conversion_) continue;
        longest = std::max(longest, add(arguments.longest.bytes, multiply(arguments.longest.arguments, argument)));
      }
      if (longest == argument) break;
      argument = longest;
    }
    size_ = add(add(whole.bytes, multiply(whole.arguments, argument)), multiply(6, rest_.size()));
    return true;
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t longest_list() const { return longest_list_seen_; }

 private:
  // What stands around a part: spaces, brackets, words like "unsigned", "{lambda", "construction vtable for".
  static constexpr std::uint64_t kAround = 48;
  static constexpr int kDeepest = 1000;
  static constexpr int kMostTrials = 64;  // each reads what follows again
  static constexpr Size kWord{kAround, 0};

  struct Deeper {
    explicit Deeper(NameReader& reader) : reader_(reader) { reader.is_good_ &= ++reader.depth_ < kDeepest; }
    ~Deeper() { --reader_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    NameReader& reader_;
  };

  [[nodiscard]] char peek(std::size_t at = 0) const { return at < rest_.size() ? rest_[at] : '\0'; }
  [[nodiscard]] bool is_at(std::string_view text) const { return rest_.starts_with(text); }
  void advance(std::size_t n) { rest_.remove_prefix(std::min(n, rest_.size())); }
  bool skip(char c) {
    if (peek() != c) return false;
    advance(1);
    return true;
  }
  bool skip(std::string_view text) {
    if (!is_at(text)) return false;
    advance(text.size());
    return true;
  }
  void expect(char c) { is_good_ &= skip(c); }
  Part refuse() {
    is_good_ = false;
    return {};
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
  static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

  std::optional<std::size_t> number() {
    constexpr std::size_t kMost = 1u << 20;
    if (!is_digit(peek())) return std::nullopt;
    std::size_t value = 0;
    for (; is_digit(peek()) && value < kMost; advance(1)) value = 10 * value + static_cast<std::size_t>(peek() - '0');
    return value;
  }
  // "_", "0_", "12_"
  void compact_number() {
    std::ignore = number();
    expect('_');
  }
  void discriminator() {
    if (!skip('_')) return;
    const bool is_long = skip('_');
    const auto value = number();
    is_good_ &= value.has_value();
    if (is_long && value.value_or(0) >= 10) expect('_');
  }

  // `is_certain`: every demangler takes it for one.
  void add_candidate(const Part& part, bool is_certain = true) {
    if (!is_good_) return;
    candidates_.push_back(part);
    if (!is_certain) ++uncertain_;
  }

  // Where demanglers do not agree which number a candidate has, the longest of those that it may be.
  Part candidate(std::size_t first) {
    if (first >= candidates_.size()) return refuse();
    Part longest;
    for (std::size_t i = first; i < candidates_.size() && i <= first + uncertain_; ++i) {
      const Part& one = candidates_[i];
      longest.size.bytes = std::max(longest.size.bytes, one.size.bytes);
      longest.size.arguments = std::max(longest.size.arguments, one.size.arguments);
      if (one.list != kNoList && uncertain_ > 0) lists_[static_cast<std::size_t>(one.list)].is_of_function = true;
    }
    longest.list = candidates_[first].list;
    return longest;
  }

  Part encoding() {
    const Deeper deeper(*this);
    if (!is_good_) return {};
    ++encodings_;
    if (peek() == 'T' || peek() == 'G') return special_name();
    Part part = name();
    if (part.list != kNoList) lists_[static_cast<std::size_t>(part.list)].is_of_function = true;
    part.size += kWord;
    if (at_end()) return part;
    std::ignore = skip('J');
    part.size += types();
    return part;
  }
  [[nodiscard]] bool at_end() const { return rest_.empty() || peek() == 'E' || peek() == '.'; }
  // Of parameters, the first perhaps what is returned. Up to a reference qualifier.
  Size types() {
    Size all = kWord;
    std::size_t count = 0;
    for (; is_good_ && !at_end(); ++count) {
      if ((peek() == 'R' || peek() == 'O') && peek(1) == 'E') break;
      all += type().size;
      all += kWord;
    }
    is_good_ &= count > 0;
    return all;
  }

  Part special_name() {
    Size size = kWord;
    if (skip("TV") || skip("TT") || skip("TI") || skip("TS")) {
      size += type().size;
    } else if (skip("GV") || skip("TH") || skip("TW")) {
      size += name().size;
    } else if (skip("GTt") || skip("GTn")) {
      size += encoding().size;
    } else if (skip("TC")) {
      size += type().size;
      is_good_ &= number().has_value();
      expect('_');
      size += type().size;
    } else if (is_at("Th") || is_at("Tv")) {
      advance(1);
      call_offset();
      size += encoding().size;
    } else if (skip("Tc")) {
      call_offset();
      call_offset();
      size += encoding().size;
    } else {
      return refuse();
    }
    return {size};
  }
  void call_offset() {
    const bool is_virtual = peek() == 'v';
    is_good_ &= skip('h') || skip('v');
    for (int i = 0; i < (is_virtual ? 2 : 1); ++i) {
      std::ignore = skip('n');
      is_good_ &= number().has_value();
      expect('_');
    }
  }

  Part name() {
    const Deeper deeper(*this);
    if (!is_good_) return {};
    if (peek() == 'N') return nested_name();
    if (peek() == 'Z') return local_name();
    // Of a closure or an unnamed type the library reads no template arguments here: an I behind it is another argument.
    if (peek() == 'U') return unqualified_name();
    const bool is_std = is_at("St");
    const bool is_substitution = peek() == 'S' && !is_std;
    if (is_std) advance(2);
    Part part = is_substitution ? substitution() : unqualified_name();
    part.size += kWord;
    if (peek() != 'I') return part;
    if (!is_substitution) add_candidate(part);
    return with_arguments(part);
  }
  Part with_arguments(Part part) {
    const int list = template_arguments();
    if (!is_good_) return {};
    part.size += lists_[static_cast<std::size_t>(list)].all;
    part.list = list;
    return part;
  }

  Part nested_name() {
    expect('N');
    Size size = qualifiers();
    if (peek() == 'R' || peek() == 'O') advance(1);
    Part part = prefix();
    expect('E');
    part.size += size;
    return part;
  }
  // What stands before a type or a name.
  Size qualifiers() {
    Size size = kWord;
    for (;; size += kWord) {
      if (skip('r') || skip('V') || skip('K') || skip("Dx") || skip("Do")) continue;
      if (!skip("DO")) return size;
      size += expression();
      expect('E');
    }
  }
  [[nodiscard]] bool is_at_qualifier() const {
    return peek() == 'r' || peek() == 'V' || peek() == 'K' || is_at("Dx") || is_at("Do") || is_at("DO");
  }
  Part prefix() {
    std::optional<Part> all;
    while (is_good_ && peek() != 'E') {
      const char c = peek();
      bool is_certain = true;
      if (c == 'M' && all) {
        advance(1);
        continue;
      }
      if (c == 'I') {
        if (!all) return refuse();
        all = with_arguments(*all);
      } else {
        Part part;
        if (c == 'S') {
          part = substitution();
        } else if (c == 'T') {
          part = template_param();
        } else if (is_at("DT") || is_at("Dt")) {
          if (all) return refuse();
          part = type();
          is_certain = false;  // it is one already
        } else {
          part = unqualified_name();
        }
        if (all) part.size += all->size;
        part.size += kWord;
        part.list = all || c != 'S' ? kNoList : part.list;
        all = part;
      }
      if (c != 'S' && peek() != 'E') add_candidate(*all, is_certain);
    }
    return all ? *all : refuse();
  }

  Part unqualified_name() {
    const Deeper deeper(*this);
    if (!is_good_) return {};
    Size size;
    const char c = peek();
    if (is_digit(c)) {
      size = source_name();
    } else if (is_lower(c)) {
      std::ignore = skip("on");
      size = operator_name();
    } else if (c == 'C' || c == 'D') {
      size = structor_name();
    } else if (skip('L')) {
      size = source_name();
      discriminator();
    } else if (skip("Ul")) {
      size = types();
      expect('E');
      compact_number();
      size += kWord;
      add_candidate({size}, false);
    } else if (skip("Ut")) {
      compact_number();
      size = kWord;
      add_candidate({size}, false);
    } else {
      return refuse();
    }
    size += tags();
    return {size};
  }
  Size tags() {
    Size size = kWord;
    while (is_good_ && skip('B')) size += source_name();
    return size;
  }
  Size source_name() {
    const auto length = number();
    if (!length || *length == 0 || *length > rest_.size()) return refuse().size;
    advance(*length);
    longest_word_ = std::max<std::uint64_t>(longest_word_, *length);
    return {*length + kAround, 0};
  }
  Size operator_name() {
    if (skip("li")) return source_name();
    if (!skip("cv")) return operator_code() != nullptr ? kWord : refuse().size;
    const bool is_within_another = in_conversion_;
    has_conversion_ = in_conversion_ = true;
    Size size = type().size;
    in_conversion_ = is_within_another;
    size += kWord;
    return size;
  }
  const Operator* operator_code() {
    const auto* const found =
        std::find_if(kOperators.begin(), kOperators.end(), [&](const Operator& each) { return is_at(each.code); });
    if (found == kOperators.end()) return nullptr;
    advance(2);
    return found;
  }
  template <std::size_t N>
  bool skip_any(const std::array<std::string_view, N>& codes) {
    return std::any_of(codes.begin(), codes.end(), [&](std::string_view code) { return skip(code); });
  }
  // A constructor has the name before it once more, perhaps "basic_string<char, …>".
  Size structor_name() {
    const bool is_constructor = skip('C');
    if (!is_constructor) expect('D');
    Size size{longest_word_ + 2 * kAround, 0};
    const bool is_inherited = is_constructor && skip('I');
    is_good_ &= is_digit(peek());
    advance(1);
    if (is_inherited) size += type().size;
    return size;
  }

  Part local_name() {
    expect('Z');
    Size size = encoding().size;
    expect('E');
    size += kWord;
    if (skip('s')) {
      discriminator();
      return {size};
    }
    if (skip('d')) compact_number();
    const bool has_own_number = peek() == 'U';
    Part part = name();
    if (has_own_number) {
      is_good_ &= peek() != '_';
    } else {
      discriminator();
    }
    part.size += size;
    return part;
  }

  Part substitution() {
    expect('S');
    if (skip('_')) return candidate(0);
    if (is_digit(peek()) || is_upper(peek())) {
      std::size_t number = 0;
      for (; is_digit(peek()) || is_upper(peek()); advance(1)) {
        number = 36 * number + static_cast<std::size_t>(is_digit(peek()) ? peek() - '0' : peek() - 'A' + 10);
        if (number > candidates_.size()) return refuse();
      }
      expect('_');
      return candidate(number + 1);
    }
    if (std::string_view("tabsiod").find(peek()) == std::string_view::npos || peek() == '\0') return refuse();
    advance(1);
    Part part{kWord.times(2)};
    if (peek() == 'B') {
      part.size += tags();
      add_candidate(part);
    }
    return part;
  }
  Part template_param() {
    expect('T');
    compact_number();
    return {{kAround, 1}};
  }

  int template_arguments() {
    const Deeper deeper(*this);
    is_good_ &= skip('I') || skip('J');
    List list;
    list.all = kWord;
    std::uint64_t count = 0;
    for (; is_good_ && !skip('E'); ++count) {
      Size size = template_argument();
      size += kWord;
      list.all += size;
      list.longest.bytes = std::max(list.longest.bytes, size.bytes);
      list.longest.arguments = std::max(list.longest.arguments, size.arguments);
    }
    longest_list_seen_ = std::max(longest_list_seen_, count);
    lists_.push_back(list);
    return static_cast<int>(lists_.size() - 1);
  }
  Size template_argument() {
    if (peek() == 'L') return literal();
    if (peek() == 'I' || peek() == 'J') {
      const int list = template_arguments();
      return lists_[static_cast<std::size_t>(list)].all;
    }
    if (!skip('X')) return type().size;
    const Size size = expression();
    expect('E');
    return size;
  }

  // The candidate is the whole type, beside those in it.
  Part type() {
    const Deeper deeper(*this);
    if (!is_good_) return {};
    if (is_at_qualifier()) {
      Part part{qualifiers()};
      part.size += peek() == 'F' ? function_type() : type().size;
      add_candidate(part);
      return part;
    }
    bool is_candidate = true;
    Part part = bare_type(is_candidate);
    part.size += kWord;
    if (is_candidate) add_candidate(part);
    return part;
  }
  Part bare_type(bool& is_candidate) {
    const char c = peek();
    if (std::string_view("abcdefghijlmnostvwxyz").find(c) != std::string_view::npos && c != '\0') {
      is_candidate = false;
      advance(1);
      return {kWord};
    }
    if (std::string_view("OPRCG").find(c) != std::string_view::npos && c != '\0') {
      advance(1);
      return {type().size};
    }
    if (skip('u')) {
      const Size size = source_name();
      return peek() != 'I' ? Part{size} : refuse();
    }
    if (skip('U')) {
      Size size = source_name();
      size += peek() == 'I' ? with_arguments({}).size : Size();
      size += type().size;
      return {size};
    }
    if (c == 'F') return {function_type()};
    if (c == 'A') return {array_type()};
    if (skip('M')) {
      Size size = type().size;
      size += type().size;
      return {size};
    }
    if (c == 'T') {
      Part part = template_param();
      if (peek() != 'I') return part;
      if (in_conversion_) return before_arguments_of_operator() ? part : refuse();
      add_candidate(part);
      return with_arguments(part);
    }
    if (c == 'D') return type_of_two_letters(is_candidate);
    if (c == 'S') return type_of_substitution(is_candidate);
    if (is_digit(c) || c == 'N' || c == 'Z') return name();
    return refuse();
  }
  // "operator T<int>()" with T = int has the arguments once, "operator T<int>()" with a template T twice.
  bool before_arguments_of_operator() {
    if (++trials_ > kMostTrials) return false;
    NameReader trial = *this;
    std::ignore = trial.template_arguments();
    trials_ = trial.trials_;
    return trial.is_good_ && trial.peek() != 'I';
  }
  Part type_of_two_letters(bool& is_candidate) {
    if (skip("DT") || skip("Dt")) {
      const Size size = expression();
      expect('E');
      return {size};
    }
    if (skip("Dv")) {
      Size size = skip('_') ? expression() : Size();
      std::ignore = number();
      expect('_');
      size += type().size;
      return {size};
    }
    if (skip("Dp")) return {type().size.times(std::max<std::uint64_t>(longest_list_, 1))};
    constexpr std::array<std::string_view, 10> kWords{"Da", "Dc", "Dd", "De", "Df", "Dh", "Di", "Dn", "Ds", "Du"};
    is_candidate = false;
    return skip_any(kWords) ? Part{kWord} : refuse();
  }
  Part type_of_substitution(bool& is_candidate) {
    if (is_at("St")) return name();
    Part part = substitution();
    part.size += kWord;
    if (peek() == 'I') return with_arguments(part);
    is_candidate = false;
    return part;
  }
  Size function_type() {
    expect('F');
    std::ignore = skip('Y');
    std::ignore = skip('J');
    Size size = types();
    if (peek() == 'R' || peek() == 'O') advance(1);
    expect('E');
    return size;
  }
  Size array_type() {
    expect('A');
    Size size = kWord;
    if (is_digit(peek())) {
      std::ignore = number();
    } else if (peek() != '_') {
      size += expression();
    }
    expect('_');
    size += type().size;
    return size;
  }

  Size literal() {
    expect('L');
    if (is_at("_Z") || peek() == 'Z') {
      std::ignore = skip('_');
      advance(1);
      Size size = encoding().size;
      expect('E');
      return size;
    }
    Size size = type().size;
    const std::size_t end = std::min(rest_.find('E'), rest_.size());
    size += {end + kAround, 0};
    advance(end);
    expect('E');
    return size;
  }

  Size expressions(char end) {
    Size size = kWord;
    while (is_good_ && !skip(end)) {
      size += expression();
      is_good_ &= !rest_.empty();
    }
    return size;
  }
  Size expression() {
    const Deeper deeper(*this);
    if (!is_good_) return {};
    Size size = kWord;
    if (peek() == 'L') {
      size += literal();
    } else if (peek() == 'T') {
      size += template_param().size;
    } else if (skip("sr")) {
      size += scoped_name();
    } else if (skip("sp")) {
      size += expression().times(std::max<std::uint64_t>(longest_list_, 1));
    } else if (skip("fpT")) {
    } else if (skip("fp")) {
      compact_number();
    } else if (is_digit(peek()) || is_at("on")) {
      size += member();
    } else if (skip("il")) {
      size += expressions('E');
    } else if (skip("tl")) {
      size += type().size;
      size += expressions('E');
    } else if (skip("cv")) {
      size += type().size;
      size += skip('_') ? expressions('E') : expression();
    } else if (skip("st")) {
      size += type().size;
    } else if (skip("sc") || skip("dc") || skip("cc") || skip("rc")) {
      size += type().size;
      size += expression();
    } else if (skip("sZ")) {
      size += expression();
    } else if (skip("tr")) {
    } else if (skip("fl") || skip("fr") || is_at("fL") || is_at("fR")) {
      size += fold();
    } else if (skip("nw") || skip("na")) {
      size += expressions('_');
      size += type().size;
      if (skip("pi")) {
        size += expressions('E');
      } else if (is_at("il")) {
        size += expression();
      } else {
        expect('E');
      }
    } else {
      size += operation();
    }
    return size;
  }
  Size fold() {
    const bool has_first = skip("fL") || skip("fR");
    Size size = operator_name();
    if (has_first) size += expression();
    size += expression();
    return size;
  }
  // Levels up to an E and a name, or a type and a name: as the first, which has no candidates, if it can be read so.
  Size scoped_name() {
    if (is_digit(peek())) {
      if (++trials_ > kMostTrials) return refuse().size;
      NameReader trial = *this;
      const Size size = trial.name_behind_levels();
      trials_ = trial.trials_;
      if (trial.is_good_) {
        *this = std::move(trial);
        return size;
      }
    }
    Size size = type().size;
    size += member();
    return size;
  }
  Size name_behind_levels() {
    Size size = kWord;
    while (is_good_ && !skip('E')) size += member();
    size += member();
    return size;
  }
  // Perhaps with template arguments.
  Size member() {
    Size size = unqualified_name().size;
    if (peek() == 'I') {
      const int list = template_arguments();
      size += lists_[static_cast<std::size_t>(list)].all;
    }
    return size;
  }
  Size operation() {
    const Operator* const found = operator_code();
    if (found == nullptr) return refuse().size;
    const std::string_view code = found->code;
    if (code == "pp" || code == "mm") std::ignore = skip('_');
    Size size = expression();
    if (code == "cl") {
      size += expressions('E');
    } else if (code == "dt" || code == "pt") {
      size += is_at("sr") || is_at("gs") ? expression() : member();
    } else {
      for (int i = 1; i < found->operands; ++i) size += expression();
    }
    return size;
  }

  struct List {
    Size all;
    Size longest;  // of its arguments
    bool is_of_function = false;
  };

  std::string_view rest_;
  std::uint64_t longest_list_;
  std::uint64_t longest_list_seen_ = 0;
  std::uint64_t longest_word_ = 0;
  std::uint64_t size_ = 0;
  std::size_t encodings_ = 0;
  std::size_t uncertain_ = 0;
  int depth_ = 0;
  int trials_ = 0;
  bool is_good_ = true;
  bool has_conversion_ = false;
  bool in_conversion_ = false;
  std::vector<Part> candidates_;
  std::vector<List> lists_;
};

}  // namespace

std::uint64_t demangled_size_at_most(std::string_view name) {
  // A pack may stand behind what is expanded by it.
  NameReader first(name, 1);
  if (!first.read()) return kUnknown;
  if (first.longest_list() <= 1) return first.size();
  NameReader second(name, first.longest_list());
  return second.read() ? second.size() : kUnknown;
}

}  // namespace landtrace::symbols
