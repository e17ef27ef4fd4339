#include "ui/line_parts.hpp"

#include <algorithm>
#include <charconv>

namespace landtrace::ui {
namespace {

// Names of threads have at most 15 bytes, in a column of 16, so one that looks like the rest of a line misleads nobody.
constexpr std::size_t kCommColumn = 16;

std::string_view without_leading_spaces(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(' '), text.size()));
}

// "5853.601981"; times of other clocks are numbers without a point, and stand as they are.
std::uint64_t time_of(std::string_view text) {
  std::uint64_t whole = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc{} || behind == end || *behind != '.') return whole;
  std::uint64_t parts = 0;
  std::from_chars(behind + 1, end, parts);
  return whole * 1'000'000 + parts;
}

}  // namespace

bool parse_line(std::string_view line, LineParts& parts) {
  if (line.size() <= kCommColumn || line[kCommColumn] != '-') return false;
  parts.comm = without_leading_spaces(line.substr(0, kCommColumn));
  const char* const end = line.data() + line.size();
  const auto [behind, error] = std::from_chars(line.data() + kCommColumn + 1, end, parts.tid);
  if (error != std::errc{}) return false;
  std::string_view rest = without_leading_spaces({behind, static_cast<std::size_t>(end - behind)});
  parts.tgid = 0;
  if (rest.starts_with('(')) {
    const std::string_view number = without_leading_spaces(rest.substr(1));
    std::from_chars(number.data(), end, parts.tgid);
  }
  const std::size_t colon = rest.find(": ");
  if (colon == std::string_view::npos) return false;
  parts.time_us = time_of(rest.substr(rest.rfind(' ', colon) + 1));
  rest.remove_prefix(colon + 2);
  parts.event = rest.substr(0, rest.find(':'));
  return true;
}

std::uint64_t lost_in(std::string_view line) {
  const std::size_t at = line.find(" [LOST ");
  if (!line.starts_with("CPU:") || at == std::string_view::npos) return 0;
  std::uint64_t count = 1;
  std::from_chars(line.data() + at + 7, line.data() + line.size(), count);
  return count;
}

}  // namespace landtrace::ui
