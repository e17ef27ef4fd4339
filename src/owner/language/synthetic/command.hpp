// What is written to synthetic_events, and as "s:" to dynamic_events:
//
//   NAME TYPE FIELD[; TYPE FIELD]…    defines an event
//   !NAME [anything]                  removes it (synthetic_events alone)
//
// Spaces alone may separate fields. To place a caret the kernel looks for the refused word from the start of the
// command: the caret may stand below an earlier word that reads the same.
#pragma once

#include <functional>
#include <tl/expected.hpp>

#include "event/declaration.hpp"
#include "language/command_text.hpp"

namespace landtrace::language {

struct SyntheticCommand {
  enum class Kind { kNothing, kRemoval, kDefinition };
  Kind kind = Kind::kNothing;
  // What the error log shows: the command without spaces in front.
  std::string_view logged;
  std::string_view name;
  std::string_view fields;
};

template <typename T>
using AcceptedSynthetic = tl::expected<T, CommandRefusal>;

// A line of synthetic_events.
AcceptedSynthetic<SyntheticCommand> split_synthetic(std::string_view line);
// One of dynamic_events that begins with "s:".
AcceptedSynthetic<SyntheticCommand> split_dynamic_synthetic(std::string_view line);

// `exists` says whether there is a synthetic event of that name.
AcceptedSynthetic<event::Declaration> parse_synthetic(const SyntheticCommand& definition,
                                                      const std::function<bool(std::string_view)>& exists);

}  // namespace landtrace::language
