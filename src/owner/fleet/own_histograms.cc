#include "fleet/own_histograms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "fleet/snapshot_parts.hpp"

namespace landtrace::fleet {
namespace {

// It stands in a subject, where a byte may be three.
constexpr std::size_t kLongest = 600;

bool is_of_display(std::string_view part) {
  return std::ranges::any_of(std::array{"sort=", "size=", "name=", "pause"},
                             [&](std::string_view one) { return part.starts_with(one); });
}

// Of "hist:keys=a:vals=b:sort=b:size=64".
std::string definition_of(std::string_view text) {
  std::string definition;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(':'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    if (is_of_display(part)) continue;
    definition.append(definition.empty() ? "" : ":").append(part);
  }
  return definition;
}

}  // namespace

std::string own_event(const std::string& instance, const std::string& event, const std::string& trigger) {
  std::string_view text = trigger;
  text = text.substr(0, text.find_last_not_of("\n") + 1);
  if (text.ends_with(']')) text = text.substr(0, text.rfind(" ["));
  const std::size_t condition = std::min(text.find(" if "), text.size());
  std::string name = event + (instance.empty() ? " " : " (" + instance + ") ");
  name.append(definition_of(text.substr(0, condition))).append(text.substr(condition));
  if (name.size() <= kLongest) return name;
  return fmt::format("{}… {:016x}", name.substr(0, kLongest), hash_of(name));
}

std::string event_of_own(const std::string& name) { return name.substr(0, name.find(' ')); }

}  // namespace landtrace::fleet
