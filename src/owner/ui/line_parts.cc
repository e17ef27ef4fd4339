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
  std::size_t end_of_name = rest.find(':');
  const bool has_system = end_of_name + 1 < rest.size() && rest[end_of_name + 1] != ' ';
  if (end_of_name != std::string_view::npos && has_system) end_of_name = rest.find(':', end_of_name + 1);
  parts.event = rest.substr(0, end_of_name);
  return true;
}

std::uint64_t lost_in(std::string_view line) {
  constexpr std::string_view kBegin = "CPU:";
  constexpr std::string_view kMiddle = " [LOST ";
  constexpr std::string_view kEnd = "EVENTS]";
  if (!line.starts_with(kBegin) || !line.ends_with(kEnd)) return 0;
  line.remove_prefix(kBegin.size());
  line.remove_prefix(std::min(line.find_first_not_of("0123456789"), line.size()));
  if (!line.starts_with(kMiddle)) return 0;
  line.remove_prefix(kMiddle.size());
  if (line == kEnd) return 1;
  std::uint64_t count = 0;
  const auto [behind, error] = std::from_chars(line.data(), line.data() + line.size(), count);
  line.remove_prefix(static_cast<std::size_t>(behind - line.data()));
  return error == std::errc{} && line.starts_with(' ') && line.substr(1) == kEnd ? count : 0;
}

}  // namespace landtrace::ui
