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

AcceptedProbe<std::vector<ProbeArgument>> parse_arguments(const CommandWords& words, std::size_t end,
                                                          const FetchScope& scope) {
  std::vector<ProbeArgument> arguments;
  for (std::size_t word = 2; word < end; ++word) {
    ProbeArgumentParser parser(scope, arguments);
    auto argument = parser.parse(words[word]);
    if (!argument) {
      ProbeRefusal refused{argument.error(), {}};
      for (const CommandRefusal& each : parser.logged()) {
        refused.logged.push_back({refused.code, each.what, words.position_of(word) + each.position});
      }
      return tl::unexpected<ProbeRefusal>(std::move(refused));
    }
    arguments.push_back(*std::move(argument));
  }
  return arguments;
}

}  // namespace landtrace::language
