#include "bpf_objects/loading/section.hpp"

namespace landtrace::loading {
namespace {

// What follows the prefix; nullopt: something else stands there, or nothing follows.
std::optional<std::string> behind(const std::string& name, const std::string& prefix) {
  if (name.rfind(prefix, 0) != 0 || name.size() == prefix.size()) return std::nullopt;
  return name.substr(prefix.size());
}

// PATH:PROVIDER:NAME.
std::optional<Section> parse_usdt(const std::string& places) {
  const std::size_t provider = places.find(':');
  if (provider == 0 || provider == std::string::npos) return std::nullopt;
  const std::size_t name = places.find(':', provider + 1);
  if (name == std::string::npos || name == provider + 1 || name + 1 == places.size()) return std::nullopt;
  return Section{.kind = Section::Kind::kPlace,
                 .place = places.substr(0, provider) + ":usdt" + places.substr(provider)};
}

}  // namespace

std::optional<Section> parse_section(const std::string& name) {
  for (const char* const prefix : {"tracepoint/", "tp/"}) {
    const auto rest = behind(name, prefix);
    if (!rest) continue;
    const std::size_t split = rest->find('/');
    if (split == 0 || split == std::string::npos || split + 1 == rest->size()) return std::nullopt;
    return Section{.system = rest->substr(0, split), .event = rest->substr(split + 1)};
  }
  if (const auto places = behind(name, "usdt/")) return parse_usdt(*places);
  for (const bool is_return : {false, true}) {
    const auto place = behind(name, is_return ? "uretprobe/" : "uprobe/");
    if (place && place->find(':') != std::string::npos)
      return Section{.kind = Section::Kind::kPlace, .place = *place, .is_return = is_return};
    if (const auto function = behind(name, is_return ? "kretprobe/" : "kprobe/"))
      return Section{.kind = Section::Kind::kFunction, .place = *function, .is_return = is_return};
  }
  return std::nullopt;
}

}  // namespace landtrace::loading
