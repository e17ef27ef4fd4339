// Text cut at single characters. Internal to what reads histograms' commands.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace landtrace::language {

// Takes the text up to one of `ends` off the front, and that character; nullopt is left where none of them is there.
inline std::string_view take_until(std::optional<std::string_view>& text, std::string_view ends) {
  const std::string_view all = *text;
  const auto end = all.find_first_of(ends);
  text = end == std::string_view::npos ? std::nullopt : std::optional(all.substr(end + 1));
  return all.substr(0, end);
}

// All parts between the separators; "" is one empty part.
inline std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::optional<std::string_view> rest = text;
  while (rest) parts.push_back(take_until(rest, {&separator, 1}));
  return parts;
}

}  // namespace landtrace::language
