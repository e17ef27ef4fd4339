#include "cli/probes/probe_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace landtrace::cli {
namespace {

constexpr std::string_view kReturn = "%return";
constexpr std::string_view kUsdt = "usdt:";
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

std::size_t find_single_colon(std::string_view text, std::size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] != ':') continue;
    const bool is_double = at + 1 < text.size() && text[at + 1] == ':';
    if (!is_double) return at;
    ++at;
  }
  return std::string_view::npos;
}

// FILE of "FILE:LINE"; "" of what is none.
std::string_view source_file_of(std::string_view place) {
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == place.size()) return {};
  const std::string_view line = place.substr(colon + 1);
  return std::all_of(line.begin(), line.end(), is_digit_of_number) ? place.substr(0, colon) : std::string_view();
}

bool is_source_name(std::string_view file) {
  constexpr std::array<std::string_view, 12> kEndings{"c",  "cc",  "cpp", "cxx", "C", "h",
                                                      "hh", "hpp", "rs",  "go",  "S", "s"};
  const std::size_t dot = file.rfind('.');
  if (dot == std::string_view::npos) return false;
  return std::find(kEndings.begin(), kEndings.end(), file.substr(dot + 1)) != kEndings.end();
}

// The first word; parameters of a C++ function may have spaces between.
std::string_view first_word(std::string_view words) {
  int open = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == ' ' && open <= 0) return words.substr(0, i);
    open += words[i] == '(' ? 1 : words[i] == ')' ? -1 : 0;
  }
  return open > 0 ? words.substr(0, words.find(' ')) : words;
}

// The colon between object and function: "Server::run" has none, and "net/a.c:12" is of CMD's program.
std::size_t find_colon(std::string_view place) {
  if (const std::string_view file = source_file_of(place); !file.empty()) {
    const std::size_t first = find_single_colon(file, 0);
    if (first != std::string_view::npos) return first;
    if (is_source_name(file)) return std::string_view::npos;
  }
  const std::size_t slash = place.rfind('/');
  return find_single_colon(place, slash == std::string_view::npos ? 0 : slash);
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

// "usdt:OBJECT:PROVIDER:NAME", "usdt:PROVIDER:NAME", and what may be an object there is found out later.
Result<void> parse_usdt(ProbeText& probe, std::string_view rest) {
  rest.remove_prefix(kUsdt.size());
  const std::size_t last = rest.rfind(':');
  probe.is_usdt = true;
  if (last != std::string_view::npos) {
    probe.function = rest.substr(last + 1);
    rest = rest.substr(0, last);
    const std::size_t colon = rest.rfind(':');
    probe.provider = colon == std::string_view::npos ? rest : rest.substr(colon + 1);
    if (colon != std::string_view::npos) probe.object = rest.substr(0, colon);
  }
  if (probe.function.empty() || probe.provider.empty() || probe.function.find('%') != std::string::npos) {
    return fail(EINVAL, fmt::format("{}: want usdt:PROVIDER:NAME or usdt:OBJECT:PROVIDER:NAME, not '{}'", probe.option,
                                    probe.place));
  }
  return {};
}

}  // namespace

bool is_usdt_text(const std::string& text) { return text.starts_with(kUsdt) && !text.starts_with("usdt::"); }

std::string ProbeText::group_of_many(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  std::string text = as_identifier(file.substr(0, file.find('.', 1)));
  if (!is_identifier(text)) text.insert(0, "at_");
  text.resize(std::min(text.size(), kLongestName));
  return text;
}

std::string ProbeText::group() const {
  if (!is_usdt) return "probes";
  std::string text = "usdt_" + as_identifier(provider);
  text.resize(std::min(text.size(), kLongestName));
  return text;
}

std::string ProbeText::place_in_object() const {
  if (is_usdt) return fmt::format("{}{}:{}", kUsdt, provider, function);
  std::string text = function;
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());  // "ns::f(int, char)"
  return text;
}

std::string ProbeText::event_name() const {
  if (!name.empty()) return name;
  // Of a source line not its file's folders, of a C++ function not its parameters.
  const std::string_view shown = std::string_view(function).substr(function.rfind('/') + 1);
  std::string base = as_identifier(shown.substr(0, shown.find('(', 1)));
  if (base.empty() || is_digit_of_number(base[0]) || is_pattern()) {
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
  probe.place = first_word(words);
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
  if (is_usdt_text(std::string(rest))) {
    LT_CHECK(parse_usdt(probe, rest));
    return probe;
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
  const bool is_line = is_source_name(source_file_of(rest));
  const bool is_path_alone = colon == std::string_view::npos && rest.find('/') != std::string_view::npos && !is_line;
  if (probe.function.empty() || is_path_alone) {
    return fail(EINVAL, fmt::format("{}: want OBJECT:FUNCTION or OBJECT:FILE:LINE, as in 'libc.so.6:malloc', not '{}'",
                                    option, probe.place));
  }
  return probe;
}

}  // namespace landtrace::cli
