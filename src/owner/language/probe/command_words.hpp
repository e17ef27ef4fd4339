// A probe's command, cut into words; where in it a mistake is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "language/probe/fetch.hpp"

namespace landtrace::language {

struct FetchScope;

// Views of the line.
class CommandWords {
 public:
  CommandWords() = default;
  explicit CommandWords(std::string_view line);

  [[nodiscard]] std::size_t size() const { return words_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t word) const { return words_[word]; }
  // With one space between, from that word on: as the error log shows the command.
  [[nodiscard]] std::string joined(std::size_t first = 0) const;
  // Of a word that is not there: behind the last one.
  [[nodiscard]] std::size_t position_of(std::size_t word) const;
  [[nodiscard]] ProbeRefusal refusal(std::string_view what, std::size_t word, std::size_t offset = 0,
                                     int code = EINVAL) const;
  // A sentence that no kernel says.
  [[nodiscard]] ProbeRefusal own_refusal(std::string what, std::size_t word, std::size_t offset = 0,
                                         int code = EINVAL) const;

 private:
  std::vector<std::string_view> words_;
};

// The words from the third on, up to `end`.
AcceptedProbe<std::vector<ProbeArgument>> parse_arguments(const CommandWords& words, std::size_t end,
                                                          const FetchScope& scope);

}  // namespace landtrace::language
