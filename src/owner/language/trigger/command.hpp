// What is written to an event's `trigger` file, and how the file shows it (section 6 of the kernel's "Event Tracing").
// Pure text: the event and the fields that it names need not exist.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::language {

enum class TriggerKind : std::uint8_t {
  kTraceOn,
  kTraceOff,
  kSnapshot,
  kStackTrace,
  kEnableEvent,
  kDisableEvent,
  kEnableHist,
  kDisableHist,
  kHist,
};

// As the file knows it: "traceon", "enable_event", ...
std::string_view name_of(TriggerKind kind);
// An event has one trigger of a family; of the families with a target one for each target; of histograms any number.
enum class TriggerFamily : std::uint8_t { kTracing, kSnapshot, kStackTrace, kEnabling, kHistEnabling, kHist };
TriggerFamily family_of(TriggerKind kind);
inline bool has_target(TriggerFamily family) {
  return family == TriggerFamily::kEnabling || family == TriggerFamily::kHistEnabling;
}

inline constexpr std::int64_t kUnlimited = -1;

// [!]NAME[:COUNT][ if FILTER], [!]NAME:SYSTEM:EVENT[:COUNT][ if FILTER], [!]hist:DEFINITION[ if FILTER]
struct TriggerCommand {
  bool removes = false;
  TriggerKind kind{};
  std::string system;  // of those that have a target
  std::string event;
  std::string definition;  // of kHist: all that stands behind the name
  // Not parsed: a removal is valid whatever they hold.
  std::optional<std::string> count;
  std::optional<std::string> condition;
};

// `text` as it was written. EINVAL if it is not a trigger command.
Result<TriggerCommand> parse_trigger(std::string_view text);
// How often the trigger happens at most. EINVAL, ERANGE.
Result<std::int64_t> trigger_count(const TriggerCommand& command);
// Its filter expression, "" for none. EINVAL if something else than "if" and an expression follows the command.
Result<std::string> trigger_filter(const TriggerCommand& command);

// A line of the file; `left`: how often it may still happen.
std::string trigger_line(const TriggerCommand& command, std::int64_t left, std::string_view filter);

// What the file says while there is no trigger.
std::string no_trigger_text();

}  // namespace landtrace::language
