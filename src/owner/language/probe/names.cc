#include "language/probe/names.hpp"

#include "language/command_text.hpp"

namespace landtrace::language {

tl::expected<ProbeNames, ProbeNameRefusal> split_probe_names(std::string_view text) {
  const auto refuse = [](std::string_view what, std::size_t offset) {
    return tl::unexpected<ProbeNameRefusal>({what, offset});
  };
  ProbeNames names;
  auto slash = text.find('/');
  if (slash == std::string_view::npos) slash = text.find('.');
  std::size_t offset = 0;
  if (slash != std::string_view::npos) {
    if (slash == 0) return refuse("Group name is not specified", 0);
    if (slash + 1 > kMaxProbeName) return refuse("Group name is too long", 0);
    names.group = text.substr(0, slash);
    if (!is_good_system_name(*names.group)) {
      return refuse("Group name must follow the same rules as C identifiers", 0);
    }
    offset = slash + 1;
  }
  const std::string_view event = text.substr(offset);
  if (event.empty()) {
    if (names.group) return names;
    return refuse("Event name is not specified", offset);
  }
  if (event.size() >= kMaxProbeName) return refuse("Event name is too long", offset);
  if (!is_good_name(event)) return refuse("Event name must follow the same rules as C identifiers", offset);
  names.event = event;
  return names;
}

}  // namespace landtrace::language
