#include "metrics/names.hpp"

#include <cctype>

namespace landtrace::metrics {

std::string sound_name(std::string_view text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

std::string label_name(std::string_view field) {
  const std::string name = sound_name(field);
  for (const char* const taken :
       {"event", "trace_instance", "filter", "of", "value", "le", "quantile", "job", "instance"}) {
    if (name == taken) return "key_" + name;
  }
  const bool begins_well = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && name[0] != '_';
  return begins_well ? name : "key_" + name;
}

}  // namespace landtrace::metrics
