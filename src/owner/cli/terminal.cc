#include "cli/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>

namespace landtrace::cli {
namespace {

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

// Where the character with this number begins.
std::size_t place_of(std::string_view text, std::size_t character) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_character(text[i]) && seen++ == character) return i;
  }
  return text.size();
}

}  // namespace

Screen Screen::of(int fd) {
  winsize size{};
  Screen screen;
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0) return screen;
  if (size.ws_col > 0) screen.columns = size.ws_col;
  if (size.ws_row > 0) screen.rows = size.ws_row;
  return screen;
}

std::vector<std::string> broken_lines(std::string_view text, std::size_t columns, std::size_t first_columns) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    const std::size_t room = lines.size() == 1 ? first_columns : columns;
    if (!lines.back().empty() && width_of(lines.back()) + 1 + width_of(word) > room) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (width_of(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  return std::string(text.substr(0, place_of(text, columns - 1))) + "…";
}

std::string fitted(std::string_view text, const Screen& screen) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  // The cursor stands in the last row.
  const bool is_too_long = lines + 1 > screen.rows;
  const std::size_t shown = is_too_long ? (screen.rows < 3 ? 0 : screen.rows - 2) : lines;
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + 1);
    out += shortened(line, screen.columns) + '\n';
  }
  if (is_too_long) out += shortened(fmt::format("… {} more lines", lines - shown), screen.columns) + '\n';
  return out;
}

}  // namespace landtrace::cli
