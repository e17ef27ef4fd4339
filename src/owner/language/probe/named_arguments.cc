#include "language/probe/named_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "language/probe/argument.hpp"

namespace landtrace::language {
namespace {

constexpr std::string_view kReturned = "$retval";
constexpr std::size_t kFirstArgument = 2;

std::string_view expression_of(std::string_view word) {
  const auto equals = word.find('=');
  return equals == std::string_view::npos ? word : word.substr(equals + 1);
}

bool is_named(std::string_view expression, bool is_return) {
  if (expression == "$params" || expression == "$vars") return true;
  if (is_return && expression.starts_with(kReturned)) {
    const std::string_view rest = expression.substr(kReturned.size());
    // What it points to is meant, if it is a pointer.
    if (rest == ":string" || rest == ":ustring") return true;
    return rest.empty() || rest.starts_with("->") || rest.starts_with('.') || rest.starts_with('[');
  }
  return is_good_name(expression.substr(0, 1));
}

// "req->status" is called status, or if that is taken req_status.
std::string whole_name(std::string_view expression) {
  std::string name;
  for (const char c : expression.substr(0, expression.find(':'))) {
    if (is_alnum(c) || c == '_') {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  if (name.ends_with('_')) name.pop_back();
  return name;
}

class NamedArgumentsParser {
 public:
  NamedArgumentsParser(const CommandWords& words, const FetchScope& scope) : words_(words), scope_(scope) {}

  // The mistake, if there is one, is in that word.
  bool add(std::string_view text, std::size_t word, bool is_as_written) {
    if (arguments_.size() == kMaxProbeArguments) {
      refused_ = words_.refusal("Too many arguments are specified", word, 0, E2BIG);
      return false;
    }
    ProbeArgumentParser parser(scope_, arguments_);
    auto argument = parser.parse(text);
    if (argument) {
      arguments_.push_back(*std::move(argument));
      return true;
    }
    refused_ = {argument.error(), {}};
    for (const CommandRefusal& each : parser.logged()) {
      const std::size_t position = is_as_written ? each.position : 0;
      refused_.logged.push_back({refused_.code, each.what, words_.position_of(word) + position, {}});
    }
    return false;
  }
  bool add_unknown(const std::string& why, std::size_t word) {
    const std::string_view text = words_[word];
    const std::string_view expression = expression_of(text);
    // What it is to the kernel.
    if (expression.substr(0, expression.find(':')) == kReturned) return add(text, word, true);
    return refuse(why, word);
  }
  bool add_named(const NamedFetches& fetches, std::size_t word) {
    const std::string_view text = words_[word];
    const std::string_view expression = expression_of(text);
    if (!fetches) return refuse(fetches.error(), word);
    const bool has_name =
        expression.size() < text.size() && !expression.starts_with("$params") && expression != "$vars";
    return std::all_of(fetches->begin(), fetches->end(), [&](const NamedFetch& fetch) {
      std::string name = has_name ? std::string(text.substr(0, text.find('='))) : fetch.name;
      if (!has_name && is_taken(name)) name = whole_name(expression);
      return add(fmt::format("{}={}", name, fetch.fetch), word, false);
    });
  }
  [[nodiscard]] bool is_taken(std::string_view name) const {
    return std::any_of(arguments_.begin(), arguments_.end(),
                       [&](const ProbeArgument& each) { return each.name == name; });
  }

  std::vector<ProbeArgument> arguments_;
  ProbeRefusal refused_;

 private:
  bool refuse(const std::string& why, std::size_t word) {
    refused_ = words_.own_refusal(why, word, words_[word].size() - expression_of(words_[word]).size());
    return false;
  }

  const CommandWords& words_;
  const FetchScope& scope_;
};

}  // namespace

std::vector<std::string> named_expressions(const CommandWords& words, bool is_return) {
  std::vector<std::string> found;
  for (std::size_t word = kFirstArgument; word < words.size(); ++word) {
    const std::string_view expression = expression_of(words[word]);
    if (is_named(expression, is_return)) found.emplace_back(expression);
  }
  return found;
}

AcceptedProbe<std::vector<ProbeArgument>> parse_named_arguments(const CommandWords& words, const FetchScope& scope,
                                                                const std::vector<std::string>& expressions,
                                                                const AllNamedFetches& named) {
  NamedArgumentsParser parser(words, scope);
  std::size_t next = 0;
  for (std::size_t word = kFirstArgument; word < words.size(); ++word) {
    const bool is_one = next < expressions.size() && expression_of(words[word]) == expressions[next];
    const bool added = !is_one ? parser.add(words[word], word, true)
                       : named ? parser.add_named((*named)[next], word)
                               : parser.add_unknown(named.error(), word);
    if (is_one) ++next;
    if (!added) return tl::unexpected<ProbeRefusal>(std::move(parser.refused_));
  }
  return std::move(parser.arguments_);
}

}  // namespace landtrace::language
