#include "fleet/parse_json.hpp"

#include <nlohmann/json.hpp>

namespace landtrace::fleet {

bool is_nested_too_deep(std::string_view json) {
  constexpr std::size_t kMostLevels = 32;
  std::size_t levels = 0;
  bool is_in_text = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') is_in_text = !is_in_text;
    if (is_in_text && c == '\\') ++at;
    if (is_in_text) continue;
    if ((c == '[' || c == '{') && ++levels > kMostLevels) return true;
    if ((c == ']' || c == '}') && levels > 0) --levels;
  }
  return false;
}

nlohmann::json parse_json(std::string_view text) {
  if (is_nested_too_deep(text)) return nlohmann::json::value_t::discarded;
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace landtrace::fleet
