#include "language/probe/command_words.hpp"

#include <fmt/format.h>

#include "language/probe/argument.hpp"
#include "language/words.hpp"

namespace landtrace::language {

CommandWords::CommandWords(std::string_view line) : words_(split_words(line)) {}

std::string CommandWords::joined(std::size_t first) const {
  return fmt::format("{}", fmt::join(words_.begin() + static_cast<std::ptrdiff_t>(first), words_.end(), " "));
}

std::size_t CommandWords::position_of(std::size_t word) const {
  std::size_t position = 0;
  for (std::size_t i = 0; i < words_.size() && i < word; ++i) position += words_[i].size() + 1;
  return position;
}

ProbeRefusal CommandWords::refusal(std::string_view what, std::size_t word, std::size_t offset, int code) const {
  return {code, {{code, what, position_of(word) + (word < words_.size() ? offset : 0)}}};
}

ProbeRefusal CommandWords::own_refusal(std::string what, std::size_t word, std::size_t offset, int code) const {
  ProbeRefusal refused = refusal("", word, offset, code);
  refused.logged[0].own = std::move(what);
  return refused;
}

AcceptedProbe<std::vector<ProbeArgument>> parse_arguments(const CommandWords& words, std::size_t end,
                                                          const FetchScope& scope) {
  std::vector<ProbeArgument> arguments;
  const auto add = [&](std::size_t word, std::string_view text) -> tl::expected<void, ProbeRefusal> {
    ProbeArgumentParser parser(scope, arguments);
    auto argument = parser.parse(text);
    if (!argument) {
      ProbeRefusal refused{argument.error(), {}};
      for (const CommandRefusal& each : parser.logged()) {
        refused.logged.push_back({refused.code, each.what, words.position_of(word) + each.position});
      }
      return tl::unexpected<ProbeRefusal>(std::move(refused));
    }
    arguments.push_back(*std::move(argument));
    return {};
  };
  for (std::size_t word = 2; word < end; ++word) {
    const bool is_all = scope.usdt != nullptr && words[word] == "$arg*";
    const std::vector<bool> readable = is_all ? readable_usdt_arguments(*scope.usdt) : std::vector<bool>();
    for (std::size_t i = 0; i < readable.size(); ++i) {
      if (!readable[i]) continue;
      if (auto added = add(word, fmt::format("$arg{}", i + 1)); !added) return tl::unexpected(added.error());
    }
    if (is_all) continue;
    if (auto added = add(word, words[word]); !added) return tl::unexpected(added.error());
  }
  return arguments;
}

}  // namespace landtrace::language
