#include "bpf_objects/loading/section.hpp"

namespace landtrace::loading {
namespace {

// What follows the prefix; nullopt: something else stands there, or nothing follows.
std::optional<std::string> behind(const std::string& name, const std::string& prefix) {
  if (name.rfind(prefix, 0) != 0 || name.size() == prefix.size()) return std::nullopt;
  return name.substr(prefix.size());
}

}  // namespace

std::optional<Section> parse_section(const std::string& name) {
  for (const char* const prefix : {"tracepoint/", "tp/"}) {
    const auto rest = behind(name, prefix);
    if (!rest) continue;
    const std::size_t split = rest->find('/');
    if (split == 0 || split == std::string::npos || split + 1 == rest->size()) return std::nullopt;
    return Section{rest->substr(0, split), rest->substr(split + 1), {}, false};
  }
  for (const bool is_return : {false, true}) {
    const auto place = behind(name, is_return ? "uretprobe/" : "uprobe/");
    if (place && place->find(':') != std::string::npos) return Section{{}, {}, *place, is_return};
  }
  return std::nullopt;
}

}  // namespace landtrace::loading
