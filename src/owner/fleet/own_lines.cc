#include "fleet/own_lines.hpp"

#include <algorithm>
#include <cctype>

#include "fleet/subjects.hpp"

namespace landtrace::fleet {
namespace {

constexpr std::string_view kFrame = " => ";
constexpr std::string_view kTime = "00:00:00.000000";
constexpr std::string_view kSpaceInSubject = "%20";

bool has_time(std::string_view line) {
  const auto fits = [](char wanted, char c) {
    return wanted == '0' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : wanted == c;
  };
  return line.size() > kTime.size() && line[kTime.size()] == ' ' &&
         std::equal(kTime.begin(), kTime.end(), line.begin(), fits);
}

// `host`: as it stands in subjects, where a text begins as all of it does.
bool is_of(std::string_view line, const std::string& host) {
  if (!has_time(line)) return false;
  const std::string_view name = line.substr(kTime.size() + 1, host.size() + 1);
  return part_of_subject(name).starts_with(host + std::string(kSpaceInSubject));
}

}  // namespace

OwnLines own_lines(std::string_view subject, std::string_view message) {
  const std::string host = host_part(subject);
  OwnLines own;
  bool is_own = false;
  while (!message.empty()) {
    const std::string_view line = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(message.size(), line.size() + 1));
    is_own = line.starts_with(kFrame) ? is_own : is_of(line, host);
    if (is_own) {
      own.text.append(line).append(1, '\n');
    } else {
      ++own.foreign;
    }
  }
  return own;
}

std::uint64_t lines_in(std::string_view text) {
  return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

ToldLines take_lines(ToldLines& told, std::size_t most_bytes) {
  const std::string_view lines = told.lines;
  const auto end_of = [&](std::size_t begin) { return std::min(lines.find('\n', begin), lines.size() - 1) + 1; };
  std::size_t begin = 0;
  while (begin < lines.size() && end_of(begin) - begin > most_bytes) {
    begin = end_of(begin);
    ++told.before;
  }
  std::size_t end = begin;
  while (end < lines.size() && end_of(end) - begin <= most_bytes) end = end_of(end);
  ToldLines taken{told.subject, told.lines.substr(begin, end - begin), told.before};
  told.before += lines_in(taken.lines);
  told.lines.erase(0, end);
  return taken;
}

// Who may send as one host may do so for any number of domains.
std::uint64_t MissingLines::before(const std::string& subject, std::uint64_t before, std::string_view message) {
  constexpr std::size_t kMostSubjects = 1u << 16;
  if (heard_.size() >= kMostSubjects && !heard_.contains(subject)) return 0;
  std::uint64_t& heard = heard_[subject];
  const std::uint64_t missing = before > heard ? before - heard : 0;
  heard = before + lines_in(message);
  return missing;
}

}  // namespace landtrace::fleet
