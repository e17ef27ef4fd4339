#include "symbols/short_name.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

#include "symbols/symbols.hpp"

namespace landtrace::symbols {
namespace {

constexpr std::size_t kShort = 80;
constexpr std::string_view kOperator = "operator";
constexpr std::string_view kAnonymous = "(anonymous namespace)";

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Behind an operator that is named at `at`, whose signs open and close nothing: "operator<<", "operator()". Else `at`.
std::size_t behind_operator(std::string_view name, std::size_t at) {
  if (!name.substr(at).starts_with(kOperator) || (at > 0 && is_word(name[at - 1]))) return at;
  at += kOperator.size();
  if (name.substr(at).starts_with("()")) return at + 2;
  return std::min(name.find_first_not_of("<>=-&|^!~+*/%,", at), name.size());
}

bool closes(char open, char c) {
  return (open == '(' && c == ')') || (open == '{' && c == '}') || (open == '[' && c == ']');
}

// For each character that opens something, where that is closed, else npos. What compares, inside of brackets, is
// opened and never closed.
std::vector<std::size_t> ends_in(std::string_view name) {
  std::vector<std::size_t> ends(name.size(), std::string_view::npos);
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (const std::size_t behind = behind_operator(name, at); behind != at) {
      at = behind - 1;
    } else if (c == '<' || c == '(' || c == '{' || c == '[') {
      open.push_back(at);
    } else if (c == '>' && !open.empty() && name[open.back()] == '<' && name[at - 1] != '-') {
      ends[open.back()] = at;
      open.pop_back();
    } else if (c == ')' || c == '}' || c == ']') {
      while (!open.empty() && !closes(name[open.back()], c)) open.pop_back();
      if (open.empty()) continue;
      ends[open.back()] = at;
      open.pop_back();
    }
  }
  return ends;
}

// Without what stands between these two.
std::string without(std::string_view name, char open, char close) {
  const std::vector<std::size_t> ends = ends_in(name);
  std::string text;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const std::size_t behind = behind_operator(name, at);
    const std::string_view rest = name.substr(at);
    if (behind != at || rest.starts_with(kAnonymous)) {
      const std::size_t size = behind != at ? behind - at : kAnonymous.size();
      text += rest.substr(0, size);
      at += size - 1;
      continue;
    }
    const std::size_t end = name[at] == open ? ends[at] : std::string_view::npos;
    if (end == std::string_view::npos || end == at + 1) {
      text += name[at];
      continue;
    }
    text.append(1, open).append("...").append(1, close);
    at = end;
  }
  return text;
}

struct Parts {
  std::size_t name = 0;  // behind what it returns
  std::size_t parameters;
  std::size_t parameters_end;
};

// What stands in brackets of a type or of a function around it is none of the parts.
Parts parts_of(std::string_view text) {
  const std::vector<std::size_t> ends = ends_in(text);
  Parts parts{0, text.size(), text.size()};
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t behind = behind_operator(text, at);
    if (behind != at) {
      at = std::max(behind, std::min(text.find('(', behind), text.size())) - 1;  // "operator unsigned long()"
      continue;
    }
    if (text.substr(at).starts_with(kAnonymous)) {
      at += kAnonymous.size() - 1;
      continue;
    }
    if (text[at] == ' ' && parts.parameters == text.size()) parts.name = at + 1;
    if (text[at] != '(' && text[at] != '<' && text[at] != '{') continue;
    const std::size_t end = ends[at];
    if (end == std::string_view::npos) break;
    if (text[at] == '(') parts.parameters = at, parts.parameters_end = end + 1;
    at = end;
  }
  return parts;
}

std::string without_spaces(std::string_view text) {
  std::string squeezed;
  std::copy_if(text.begin(), text.end(), std::back_inserter(squeezed), [](char c) { return c != ' '; });
  return squeezed;
}

}  // namespace

WrittenName::WrittenName(std::string_view linked) : whole_(demangle(linked)) {
  plain_size_ = parameters_end_ = whole_.size();
  if (!linked.starts_with("_Z")) return;
  const Parts parts = parts_of(whole_);
  plain_size_ = parts.parameters - parts.name;
  parameters_end_ = parts.parameters_end - parts.name;
  whole_.erase(0, parts.name);
}

bool WrittenName::is(std::string_view text) const {
  if (text == plain()) return true;
  const std::string squeezed = without_spaces(text);
  return squeezed == without_spaces(plain()) || squeezed == without_spaces(whole_) ||
         squeezed == without_spaces(std::string_view(whole_).substr(0, parameters_end_));
}

std::string short_name(std::string_view name) {
  std::string text(name);
  if (text.size() > kShort) text = without(text, '<', '>');
  if (text.size() > kShort) text = without(text, '(', ')');
  return text;
}

}  // namespace landtrace::symbols
