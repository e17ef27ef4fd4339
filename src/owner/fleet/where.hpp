// Which hosts an order is for: "role=web && !(zone=b || host=test-*)".
//
//   expression = and { "||" and }
//   and        = not { "&&" not }
//   not        = "!" not | "(" expression ")" | NAME | NAME ("=" | "==" | "!=") VALUE
//
// NAME alone is true where the host has that label. VALUE is a glob, which may be in quotes; a label that is not there
// is "".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fleet/labels.hpp"

namespace landtrace::fleet {

class Where {
 public:
  // Every host.
  Where() = default;
  // "" is every host. EINVAL with a sentence, and in lines of their own the text and a caret.
  static Result<Where> parse(const std::string& text);

  [[nodiscard]] bool matches(const Labels& labels) const;

 private:
  friend class WhereParser;
  struct Node {
    enum class Kind : std::uint8_t { kAll, kAny, kNot, kHas, kIs };
    Kind kind = Kind::kAll;
    std::string name;
    std::string glob;
    std::vector<Node> parts;
  };
  static bool is_true(const Node& node, const Labels& labels);

  Node root_;  // of no parts: true
};

}  // namespace landtrace::fleet
