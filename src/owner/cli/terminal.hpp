// How much room a terminal has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace landtrace::cli {

struct Screen {
  static constexpr std::size_t kAny = 1'000'000;
  std::size_t columns = kAny;
  std::size_t rows = kAny;

  // Of what the descriptor is open for; any room where that is no terminal, or it does not know.
  static Screen of(int fd);
};

// Lines of so many columns at most, broken between words; a longer word is a line. The first line may have
// `first_columns`.
std::vector<std::string> broken_lines(std::string_view text, std::size_t columns, std::size_t first_columns);

// The text's columns, one for each character of UTF-8.
std::size_t width_of(std::string_view text);
// The beginning of the text that has this width, with a … for what is left out.
std::string shortened(std::string_view text, std::size_t columns);

// What can be seen of text without scrolling: its first lines, and of these the beginning.
std::string fitted(std::string_view text, const Screen& screen);

}  // namespace landtrace::cli
