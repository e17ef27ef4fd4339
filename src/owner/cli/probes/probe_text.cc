#include "cli/probes/probe_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace landtrace::cli {
namespace {

constexpr std::string_view kReturn = "%return";
// The kernel's limit is 63. What makes a name another one stands behind it.
constexpr std::size_t kLongestName = 48;

bool is_in_identifier(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_digit_of_number(char c) { return c >= '0' && c <= '9'; }

bool is_identifier(std::string_view text) {
  return !text.empty() && !is_digit_of_number(text[0]) && std::all_of(text.begin(), text.end(), is_in_identifier);
}

std::string with_single_spaces(std::string_view text) {
  std::string joined;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\t' || c == '\n';
    if (!is_space) {
      joined += c;
    } else if (!joined.empty() && joined.back() != ' ') {
      joined += ' ';
    }
  }
  if (joined.ends_with(' ')) joined.pop_back();
  return joined;
}

// The colon between object and function: "Server::run" has none.
std::size_t find_colon(std::string_view place) {
  const std::size_t slash = place.rfind('/');
  for (std::size_t at = slash == std::string_view::npos ? 0 : slash; at < place.size(); ++at) {
    if (place[at] != ':') continue;
    const bool is_double = at + 1 < place.size() && place[at + 1] == ':';
    if (!is_double) return at;
    ++at;
  }
  return std::string_view::npos;
}

// Each run of what no name can have is one '_'.
std::string as_identifier(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (is_in_identifier(c)) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  return name;
}

}  // namespace

std::string ProbeText::event_name() const {
  if (!name.empty()) return name;
  std::string base = as_identifier(function);
  if (base.empty() || is_digit_of_number(base[0])) {
    const std::string file = as_identifier(object.substr(object.rfind('/') + 1));
    base = (is_identifier(file) ? file : "at") + "_" + base;
  }
  base.resize(std::min(base.size(), kLongestName));
  return is_return ? base + "_ret" : base;
}

Result<ProbeText> parse_probe(const std::string& option, const std::string& text) {
  const std::string words = with_single_spaces(text);
  ProbeText probe;
  probe.option = option;
  probe.place = words.substr(0, words.find(' '));
  if (probe.place.size() < words.size()) probe.arguments = words.substr(probe.place.size() + 1);
  std::string_view rest = probe.place;
  if (const std::size_t equals = rest.find('='); equals != std::string_view::npos) {
    if (const std::string_view name = rest.substr(0, equals); is_identifier(name)) {
      if (name.size() > kLongestName) {
        return fail(EINVAL,
                    fmt::format("{}: the name '{}' is too long; {} letters are enough", option, name, kLongestName));
      }
      probe.name = name;
      rest.remove_prefix(equals + 1);
    }
  }
  if (const std::size_t percent = rest.rfind('%'); percent != std::string_view::npos) {
    if (rest.substr(percent) != kReturn) {
      return fail(EINVAL, fmt::format("{}: {}: want nothing behind the function but {}", option, probe.place, kReturn));
    }
    probe.is_return = true;
    rest.remove_suffix(kReturn.size());
  }
  const std::size_t colon = find_colon(rest);
  if (colon != std::string_view::npos) probe.object = rest.substr(0, colon);
  probe.function = colon == std::string_view::npos ? rest : rest.substr(colon + 1);
  const bool is_path_alone = colon == std::string_view::npos && rest.find('/') != std::string_view::npos;
  if (probe.function.empty() || is_path_alone) {
    return fail(EINVAL,
                fmt::format("{}: want OBJECT:FUNCTION, as in 'libc.so.6:malloc', not '{}'", option, probe.place));
  }
  return probe;
}

}  // namespace landtrace::cli
