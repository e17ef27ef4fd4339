#include "dwarf/reading/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/character.hpp"

namespace landtrace::dwarf {
namespace {

constexpr std::string_view kParameters = "$params", kVariables = "$vars", kReturned = "$retval";
constexpr std::size_t kMostNearNames = 8;

bool is_in_name(char c) { return is_alnum(c) || c == '_'; }

std::string_view take_name(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_in_name);
  const std::string_view name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(name.size());
  return name;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// Of the value that is described: "req->status" is called status.
struct Step {
  OrWhy<Value> value;
  std::string name;
};

// One "->status", ".status" or "[2]" at the front of the text.
Step take_step(Value value, std::string_view& text) {
  if (take(text, "[")) {
    std::int64_t index = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), index);
    text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
    if (end.ec != std::errc() || !take(text, "]")) return {why("wants a number in brackets, as in [2]"), ""};
    return {element_of_value(std::move(value), index), ""};
  }
  if (!take(text, "->") && !take(text, ".")) return {why(fmt::format("is followed by '{}'", text)), ""};
  const std::string name(take_name(text));
  if (name.empty()) return {why("is followed by no name"), ""};
  return {member_of_value(std::move(value), name), name};
}

std::string known_names(const Scope& scope) {
  std::vector<Dwarf_Die> all = scope.parameters();
  const std::vector<Dwarf_Die> variables = scope.variables();
  if (!scope.place().is_entry) all.insert(all.end(), variables.begin(), variables.end());
  std::string names;
  std::size_t count = 0;
  for (Dwarf_Die& die : all) {
    if (*name_of(die) == '\0') continue;
    if (++count > kMostNearNames) return names + ", …";
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(die));
  }
  return names;
}

OrWhy<Value> first_value(const Scope& scope, std::string_view name) {
  if (name == kReturned) return returned_value(scope);
  const auto found = scope.find(name);
  if (!found) {
    const std::string names = known_names(scope);
    return why(fmt::format("is no parameter or variable here{}{}", names.empty() ? "" : "; there are: ", names));
  }
  return value_of(scope, *found);
}

// Those of the list that can be fetched.
std::vector<NamedValue> all_of(const Scope& scope, const std::vector<Dwarf_Die>& list) {
  std::vector<NamedValue> values;
  for (Dwarf_Die die : list) {
    const std::string name = name_of(die);
    if (name.empty()) continue;
    auto value = value_of(scope, die);
    if (!value) continue;
    const auto text = fetch_text(*std::move(value), "");
    const bool is_named =
        std::any_of(values.begin(), values.end(), [&](const NamedValue& other) { return other.name == name; });
    if (text && !is_named) values.push_back({name, *text});
  }
  return values;
}

tl::unexpected<std::string> unknown(std::string_view expression, const std::string& reason) {
  return tl::unexpected<std::string>(fmt::format("{} {}", expression, reason));
}

}  // namespace

NamedValues find_values(const Scope& scope, std::string_view expression) {
  if (expression == kParameters || expression == kVariables) {
    std::vector<Dwarf_Die> list = scope.parameters();
    const bool has_variables = expression == kVariables && !scope.place().is_entry;
    const std::vector<Dwarf_Die> variables = has_variables ? scope.variables() : std::vector<Dwarf_Die>();
    list.insert(list.end(), variables.begin(), variables.end());
    return all_of(scope, list);
  }
  const std::size_t colon = expression.find(':');
  const std::string_view type = colon == std::string_view::npos ? "" : expression.substr(colon + 1);
  const std::string_view path = expression.substr(0, colon);
  std::string_view rest = path;
  const bool is_variable = take(rest, "$");
  const std::string_view first = path.substr(0, take_name(rest).size() + (is_variable ? 1 : 0));
  if (first.empty() || (is_variable && first != kReturned)) return unknown(path, "is no name");
  auto value = first_value(scope, first);
  std::string name(is_variable ? first.substr(1) : first);
  if (!value) return unknown(first, value.error());
  while (!rest.empty()) {
    const std::string_view before = path.substr(0, path.size() - rest.size());
    Step step = take_step(*std::move(value), rest);
    if (!step.value) return unknown(before, step.value.error());
    value = std::move(step.value);
    if (!step.name.empty()) name = std::move(step.name);
  }
  // What a function returns: a struct is known by its address or first word, and a text may be somebody's raw memory.
  if (path == kReturned && type.empty()) {
    if (value->type.kind == Type::Kind::kStruct) return std::vector<NamedValue>{{name, std::string(kReturned)}};
    if (value->type.kind == Type::Kind::kPointer)
      return std::vector<NamedValue>{{name, std::string(kReturned) + ":x64"}};
  }
  auto text = fetch_text(*value, type);
  if (!text) return unknown(path, text.error());
  return std::vector<NamedValue>{{name, *std::move(text)}};
}

}  // namespace landtrace::dwarf
