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

}  // namespace landtrace::fleet
