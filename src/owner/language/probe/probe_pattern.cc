#include "language/probe/probe_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "language/probe/names.hpp"
#include "language/words.hpp"

namespace landtrace::language {
namespace {

constexpr std::string_view kEach = "*";
constexpr std::string_view kReturn = "%return";

// Where the names begin in the first word; nullopt: it has none.
std::optional<std::size_t> names_at(ProbeFamily family, std::string_view word) {
  if (family == ProbeFamily::kUprobe) return word.size() > 1 && word[1] == ':' ? std::optional(2u) : std::nullopt;
  const auto colon = word.find(':', 1);
  return colon == std::string_view::npos ? std::nullopt : std::optional(colon + 1);
}

// "foo::bar(int)" is foo_bar: each run of other letters is one '_'.
std::string as_identifier(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (static_cast<signed char>(c) > 0 && (is_alnum(c) || c == '_')) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  if (name.empty() || is_digit(name.front())) name.insert(name.begin(), '_');
  return name;
}

}  // namespace

bool is_name_pattern(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

std::optional<ProbePattern> ProbePattern::parse(ProbeFamily family, std::string_view line) {
  const auto words = split_words(line);
  const bool is_ours = words.size() >= 2 && (words[0][0] == 'p' || words[0][0] == 'r');
  const auto names = is_ours ? names_at(family, words[0]) : std::nullopt;
  if (!names || !words[0].ends_with(kEach)) return std::nullopt;
  ProbePattern made;
  made.family = family;
  made.front = words[0].substr(0, words[0].size() - kEach.size());
  made.group = made.front.substr(*names);
  const bool has_group = made.group.ends_with('/') || made.group.ends_with('.');
  if (!has_group && !made.group.empty()) return std::nullopt;
  if (has_group) made.group.pop_back();
  if (made.group.empty()) made.group = family == ProbeFamily::kUprobe ? "uprobes" : "kprobes";
  const auto colon = words[1].find(':');
  const bool is_path = words[1].find('/') != std::string_view::npos;
  if (colon == std::string_view::npos || (is_path && family == ProbeFamily::kKprobe)) return std::nullopt;
  const std::string_view rest = words[1].substr(colon + 1);
  // An offset, as the kernel takes it.
  const auto last = words[1].rfind(':');
  if (rest.empty() || (last + 1 < words[1].size() && is_digit(words[1][last + 1]))) return std::nullopt;
  const auto suffix = std::min(rest.find_first_of("%("), rest.size());
  made.object = words[1].substr(0, colon);
  made.pattern = rest.substr(0, suffix);
  made.suffix = rest.substr(suffix);
  made.is_return = words[0][0] == 'r' || made.suffix == kReturn;
  for (std::size_t i = 2; i < words.size(); ++i) made.arguments.append(" ").append(words[i]);
  // A function of a module that is not there may be called anything.
  if (family == ProbeFamily::kKprobe && !is_name_pattern(made.pattern)) return std::nullopt;
  return made;
}

std::string ProbePattern::line(std::string_view function, std::string_view event) const {
  return fmt::format("{}{} {}:{}{}{}", front, event, object, function, suffix, arguments);
}

std::size_t ProbePattern::position(std::size_t position, std::string_view function, std::string_view event) const {
  const std::size_t behind_event = front.size() + event.size();
  if (position <= behind_event) return std::min(position, front.size());
  position += kEach.size() - event.size();
  const std::size_t behind_function = pattern_at() + function.size();
  if (position < behind_function) return std::min(position, pattern_at());
  return position + pattern.size() - function.size();
}

std::string ProbeEventNames::name_of(std::string_view function) {
  constexpr std::size_t kRoomForNumber = 6;
  std::string name = as_identifier(function);
  name.resize(std::min(name.size(), kMaxProbeName - 1 - kRoomForNumber));
  std::string made = name;
  while (!used_.insert(made).second) made = fmt::format("{}_{}", name, ++numbers_[name]);
  return made;
}

}  // namespace landtrace::language
