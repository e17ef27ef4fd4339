#include "language/filter/pattern.hpp"

#include "base/character.hpp"

namespace landtrace::language {
namespace {

bool needs_glob(std::string_view text) {
  if (text.find_first_of("[?\\") != std::string::npos) return true;
  const auto star = text.find('*', 1);
  return star != std::string::npos && star + 1 != text.size();
}

// Reads globs from the front of a text.
class GlobReader {
 public:
  explicit GlobReader(std::string_view text) : text_(text) {}

  Glob read() {
    while (!text_.empty()) {
      const char c = text_.front();
      text_.remove_prefix(1);
      if (c == '*') {
        add(filter::GlobToken::kAnyText);
      } else if (c == '?') {
        add(filter::GlobToken::kAnyCharacter);
      } else if (c == '[') {
        // A class without an end is a '[' like any other character.
        if (!read_class()) add(filter::GlobToken::kCharacter, c);
      } else if (c == '\\') {
        if (text_.empty()) break;
        add(filter::GlobToken::kCharacter, text_.front());
        text_.remove_prefix(1);
      } else {
        add(filter::GlobToken::kCharacter, c);
      }
    }
    return std::move(glob_);
  }

 private:
  void add(filter::GlobToken::Kind kind, char value = 0) {
    glob_.tokens.push_back({kind, static_cast<std::uint8_t>(value)});
  }

  // The "[" has been taken. A ']' that comes first belongs to the class; another one cannot be escaped.
  bool read_class() {
    std::string_view rest = text_;
    bool members[256] = {};
    const bool is_negated = rest.starts_with('!');
    if (is_negated) rest.remove_prefix(1);
    do {
      if (rest.empty()) return false;
      const auto first = static_cast<unsigned char>(rest[0]);
      auto last = first;
      rest.remove_prefix(1);
      if (rest.starts_with('-') && !rest.starts_with("-]")) {
        if (rest.size() < 2) return false;
        last = static_cast<unsigned char>(rest[1]);
        rest.remove_prefix(2);
      }
      for (unsigned c = first; c <= last; ++c) members[c] = true;
      if (rest.empty()) return false;
    } while (rest[0] != ']');
    text_ = rest.substr(1);
    add_class(members, is_negated);
    return true;
  }

  void add_class(const bool (&members)[256], bool is_negated) {
    const std::size_t begin = glob_.classes.size();
    add(filter::GlobToken::kClass, static_cast<char>(begin / filter::kGlobClassBytes));
    glob_.classes.resize(begin + filter::kGlobClassBytes);
    for (std::size_t c = 0; c < 256; ++c) {
      if (members[c] != is_negated) glob_.classes[begin + c / 8] |= static_cast<std::byte>(1u << c % 8);
    }
  }

  std::string_view text_;
  Glob glob_;
};

}  // namespace

TextPattern parse_text_pattern(std::string_view text) {
  TextPattern pattern{filter::OpCode::kEqual, {}, text.starts_with('!')};
  if (pattern.is_negated) text.remove_prefix(1);
  const bool has_head = text.starts_with('*');
  const bool has_tail = text.size() > 1 && text.ends_with('*');
  if (!text.empty() && is_digit(text.front())) {
    // Where the kernel takes patterns for functions, a number is an index. Here it makes stars mean themselves.
    pattern.text = text;
  } else if (needs_glob(text)) {
    pattern.match = filter::OpCode::kGlob;
    pattern.text = text;
  } else {
    if (has_head || has_tail)
      pattern.match =
          has_head ? (has_tail ? filter::OpCode::kInside : filter::OpCode::kSuffix) : filter::OpCode::kPrefix;
    pattern.text = text.substr(has_head ? 1 : 0, text.size() - (has_head ? 1 : 0) - (has_tail ? 1 : 0));
  }
  return pattern;
}

Glob compile_glob(std::string_view pattern) { return GlobReader(pattern).read(); }

}  // namespace landtrace::language
