#include "cli/lines/line_style.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace landtrace::cli {
namespace {

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

}  // namespace

void LineStyle::add_options(Command& command) {
  command.flag("--json", json, "One JSON object a line");
  command.flag("--relative", is_relative, "Times since the first event that is printed");
  command.flag("--delta", is_delta, "Times since the event before");
  command.flag("--utc", is_utc, "Times of day, in UTC");
  command.flag("--local", is_local, "Times of day, in the local time zone");
  command.repeated_list("--fields", fields, "Print only these fields of events", {.type = "FIELD,..."});
  command.option("--color", color, "auto, always or never; auto: on a terminal, unless NO_COLOR is set",
                 {.type = "WHEN", .shows_default = true});
}

Result<void> LineStyle::check() {
  if (json && (is_relative || is_delta)) {
    return fail(EINVAL, "--json excludes --relative and --delta: its times are numbers");
  }
  if (is_relative + is_delta + is_utc + is_local > 1) {
    return fail(EINVAL, "--relative, --delta, --utc and --local exclude each other");
  }
  if (color != "auto" && color != "always" && color != "never") {
    return fail(EINVAL, fmt::format("--color '{}': want auto, always or never", color));
  }
  const bool on_terminal = ::isatty(STDOUT_FILENO) == 1;
  has_colors = color == "always" ||
               (color == "auto" && on_terminal && variable("NO_COLOR").empty() && variable("TERM") != "dumb");
  if (json) has_colors = false;
  for_terminal = on_terminal || has_colors;
  return {};
}

std::optional<WallClock::Zone> LineStyle::zone() const {
  if (is_utc) return WallClock::Zone::kUtc;
  if (is_local) return WallClock::Zone::kLocal;
  return std::nullopt;
}

}  // namespace landtrace::cli
