// How events are printed as lines: the options that `report` and `tail` have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/lines/wall_clock.hpp"

namespace landtrace::cli {

struct LineStyle {
  bool json = false;
  bool is_relative = false;  // times since the first event
  bool is_delta = false;     // … since the one before
  bool is_utc = false;
  bool is_local = false;
  std::vector<std::string> fields;  // only these; empty: all
  std::string color = "auto";

  bool for_terminal = false;  // in the end a terminal shows it: control characters are made visible
  bool has_colors = false;

  void add_options(Command& command);
  // EINVAL: what was typed contradicts itself. Finds out where standard output leads.
  Result<void> check();
  // None: times are not those of the wall.
  [[nodiscard]] std::optional<WallClock::Zone> zone() const;
};

}  // namespace landtrace::cli
