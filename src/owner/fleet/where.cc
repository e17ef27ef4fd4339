#include "fleet/where.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>

namespace landtrace::fleet {
namespace {

// Deeper than anybody writes: a parser that calls itself has an end.
constexpr unsigned kDeepest = 64;
constexpr std::string_view kEndsValue = " \t()&|\"'";

bool is_space(char c) { return c == ' ' || c == '\t'; }

}  // namespace

class WhereParser {
 public:
  explicit WhereParser(const std::string& text) : text_(text) {}

  Result<Where> parse() {
    Where where;
    skip_spaces();
    if (at_ == text_.size()) return where;
    LT_TRY(where.root_, any());
    if (at_ != text_.size()) return mistake("want && or || here");
    return where;
  }

 private:
  using Node = Where::Node;

  tl::unexpected<Error> mistake(const std::string& what) const {
    return fail(EINVAL, "--where: " + what + "\n  " + text_ + "\n  " + std::string(at_, ' ') + "^");
  }
  void skip_spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool take(std::string_view word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    skip_spaces();
    return true;
  }

  Result<Node> any() {
    if (++depth_ > kDeepest) return mistake("too many parentheses");
    Node node{Node::Kind::kAny, {}, {}, {}};
    do {
      LT_TRY(Node part, all());
      node.parts.push_back(std::move(part));
    } while (take("||"));
    --depth_;
    return node;
  }

  Result<Node> all() {
    Node node{Node::Kind::kAll, {}, {}, {}};
    do {
      LT_TRY(Node part, one());
      node.parts.push_back(std::move(part));
    } while (take("&&"));
    return node;
  }

  Result<Node> one() {
    bool is_not = false;
    while (text_.compare(at_, 2, "!=") != 0 && take("!")) is_not = !is_not;
    LT_TRY(Node node, primary());
    return is_not ? negated(std::move(node)) : node;
  }

  Result<Node> primary() {
    if (take("(")) {
      LT_TRY(Node node, any());
      if (!take(")")) return mistake("want ) here");
      return node;
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_label_name(std::string_view(text_).substr(begin, at_ + 1 - begin))) ++at_;
    const std::string name = text_.substr(begin, at_ - begin);
    if (name.empty()) return mistake("want the name of a label here");
    skip_spaces();
    const bool is_not = take("!=");
    if (!is_not && !take("==") && !take("=")) return Node{Node::Kind::kHas, name, {}, {}};
    LT_TRY(std::string glob, value());
    Node node{Node::Kind::kIs, name, std::move(glob), {}};
    return is_not ? negated(std::move(node)) : node;
  }

  Result<std::string> value() {
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
      const std::size_t end = text_.find(text_[at_], at_ + 1);
      if (end == std::string::npos) return mistake("this quote does not end");
      std::string quoted = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      skip_spaces();
      return quoted;
    }
    const std::size_t end = std::min(text_.find_first_of(kEndsValue, at_), text_.size());
    if (end == at_) return mistake("want a value here; \"\" is none");
    std::string plain = text_.substr(at_, end - at_);
    at_ = end;
    skip_spaces();
    return plain;
  }

  static Node negated(Node node) {
    Node outer{Node::Kind::kNot, {}, {}, {}};
    outer.parts.push_back(std::move(node));
    return outer;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
};

Result<Where> Where::parse(const std::string& text) { return WhereParser(text).parse(); }

bool Where::is_true(const Node& node, const Labels& labels) {
  const auto part_is_true = [&](const Node& part) { return is_true(part, labels); };
  const auto found = labels.find(node.name);
  switch (node.kind) {
    case Node::Kind::kAll:
      return std::all_of(node.parts.begin(), node.parts.end(), part_is_true);
    case Node::Kind::kAny:
      return std::any_of(node.parts.begin(), node.parts.end(), part_is_true);
    case Node::Kind::kNot:
      return !is_true(node.parts.front(), labels);
    case Node::Kind::kHas:
      return found != labels.end();
    case Node::Kind::kIs:
      return ::fnmatch(node.glob.c_str(), found == labels.end() ? "" : found->second.c_str(), 0) == 0;
  }
  return false;
}

bool Where::matches(const Labels& labels) const { return is_true(root_, labels); }

}  // namespace landtrace::fleet
