#include "fleet/failure_text.hpp"

namespace landtrace::fleet {

std::string without_places(std::string_view text) {
  constexpr std::string_view kBehind = "): ";
  while (text.starts_with('(')) {
    const std::size_t end = text.find(kBehind);
    const bool is_place = end != std::string_view::npos && text.substr(0, end).find(".c:") != std::string_view::npos;
    if (!is_place) break;
    text.remove_prefix(end + kBehind.size());
  }
  return std::string(text);
}

std::string nobody_answers(const std::string& servers) {
  return "nobody answers at " + servers + ": is a nats-server running there? `landtrace fleet up` starts one here";
}

}  // namespace landtrace::fleet
