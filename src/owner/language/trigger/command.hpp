// What is written to an event's `trigger` file, and how the file shows it (section 6 of the kernel's "Event Tracing").
// Pure text: whether the event and the fields that it names are there is somebody else's question.
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
// Of two triggers of one family an event can have but one; of those with a target, one for each; of histograms any number.
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
  // Not looked into yet: a removal is right whatever they are.
  std::optional<std::string> count;
  std::optional<std::string> condition;
};

// `text` as it was written. EINVAL where it is no trigger command.
Result<TriggerCommand> parse_trigger(std::string_view text);
// How often the trigger happens at most. EINVAL, ERANGE.
Result<std::int64_t> trigger_count(const TriggerCommand& command);
// Its filter expression, "" for none. EINVAL where what stands behind the command is not "if" and more.
Result<std::string> trigger_filter(const TriggerCommand& command);

// A line of the file; `left`: how often it may still happen.
std::string trigger_line(const TriggerCommand& command, std::int64_t left, std::string_view filter);

// What the file says while there is no trigger.
std::string no_trigger_text();

}  // namespace landtrace::language
