#include "output/perf_data/names.hpp"

#include <algorithm>
#include <string_view>

namespace landtrace::output::perf_data {
namespace {

std::string readable_text(std::string text, std::string_view also = "") {
  std::replace_if(
      text.begin(), text.end(),
      [&](char c) {
        const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        return !is_word && also.find(c) == std::string_view::npos;
      },
      '_');
  return text;
}

}  // namespace

EventType Names::readable(const EventType& type) {
  EventType changed = type;
  changed.system = readable_text(type.system);
  const auto [given, is_new] = given_.try_emplace(type.system + ':' + type.name, readable_text(type.name));
  if (is_new) {
    while (!used_.insert(changed.system + ':' + given->second).second) given->second += '_';
  }
  changed.name = given->second;
  std::set<std::string> names;
  for (event::Field& field : changed.declaration.fields) {
    field.type = readable_text(field.type, " *[]");
    field.name = readable_text(field.name);
    while (!names.insert(field.name).second) field.name += '_';
  }
  // A format that others wrote has more than the declaration.
  const bool is_as_it_was = changed.name == type.name && changed.declaration == type.declaration;
  if (!is_as_it_was) changed.format.clear();
  return changed;
}

}  // namespace landtrace::output::perf_data
