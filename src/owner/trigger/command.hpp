// What is written to an event's `trigger` file, and how the file shows it (section 6 of the kernel's "Event Tracing").
// Pure text: whether the event and the fields that it names are there is somebody else's question.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace landtrace::trigger {

enum class Kind : std::uint8_t {
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
std::string_view name_of(Kind kind);
// Of two triggers of one family an event can have but one; of those with a target, one for each; of histograms any number.
enum class Family : std::uint8_t { kTracing, kSnapshot, kStackTrace, kEnabling, kHistEnabling, kHist };
Family family_of(Kind kind);
inline bool has_target(Family family) { return family == Family::kEnabling || family == Family::kHistEnabling; }

inline constexpr std::int64_t kUnlimited = -1;

// [!]NAME[:COUNT][ if FILTER], [!]NAME:SYSTEM:EVENT[:COUNT][ if FILTER], [!]hist:DEFINITION[ if FILTER]
struct Command {
  bool removes = false;
  Kind kind{};
  std::string system;  // of those that have a target
  std::string event;
  std::string definition;  // of kHist: all that stands behind the name
  // Not looked into yet: a removal is right whatever they are.
  std::optional<std::string> count;
  std::optional<std::string> condition;
};

// `text` as it was written. EINVAL where it is no trigger command.
Result<Command> parse(std::string_view text);
// How often the trigger happens at most. EINVAL, ERANGE.
Result<std::int64_t> count_of(const Command& command);
// Its filter expression, "" for none. EINVAL where what stands behind the command is not "if" and more.
Result<std::string> filter_of(const Command& command);

// A line of the file; `left`: how often it may still happen.
std::string line(const Command& command, std::int64_t left, std::string_view filter);

// What the file says while there is no trigger.
std::string no_trigger_text();

}  // namespace landtrace::trigger
