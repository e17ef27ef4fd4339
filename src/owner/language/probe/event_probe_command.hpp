// What is written to dynamic_events as "e:", an event probe:
//
//   e[:[GROUP/][NAME]] SYSTEM.EVENT [[ARGUMENT=]FETCH[:TYPE]]… [if FILTER]
//   FETCH: $FIELD | $comm | +|-[u]OFFSET(FETCH) | @ADDRESS | \NUMBER | \"TEXT"
//
// Carets stand where the kernel has them, which is not always below the mistake.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "event/declaration.hpp"
#include "event/event_probe_fields.hpp"
#include "language/command_text.hpp"

namespace landtrace::language {

inline constexpr const char* kEventProbeSystem = "eprobes";
inline constexpr std::size_t kMaxEventProbeArguments = 128;

// Where a value comes from, which memory is read through it, and how the result is kept.
struct Fetch {
  enum class Source : std::uint8_t { kField, kComm, kNumber, kText };
  enum class Store : std::uint8_t {
    kValue,       // itself
    kMemory,      // what is `store_offset` behind it in memory
    kText,        // the text there
    kSymbolText,  // what the address is called
  };
  Source source = Source::kNumber;
  Store store = Store::kValue;
  event::Field field;               // kField
  std::uint64_t number = 0;         // kNumber
  std::string text;                 // kText
  std::vector<std::int64_t> steps;  // the value is replaced by the 8 bytes that are so far behind it
  std::int64_t store_offset = 0;
  std::uint8_t bits = 0;  // of a bit field; 0: not a bit field
  std::uint8_t first_bit = 0;
};

struct EventProbeArgument {
  std::string name;
  std::string text;  // as it was written
  const event::FetchType* type = nullptr;
  std::uint32_t count = 0;  // of an array
  Fetch fetch;
};

// The kernel logs some refusals twice.
struct EventProbeRefusal {
  int code = EINVAL;
  std::vector<CommandRefusal> logged;
};
template <typename T>
using AcceptedEventProbe = tl::expected<T, EventProbeRefusal>;

class EventProbeCommand {
 public:
  // Whether the line is meant as one: two words or more, the first beginning with an e.
  static bool is_one(std::string_view line);
  // Reads all but the arguments. `line` must outlive the command.
  static AcceptedEventProbe<EventProbeCommand> split(std::string_view line);

  [[nodiscard]] const std::string& group() const { return group_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string_view base_system() const { return base_system_; }
  [[nodiscard]] std::string_view base_name() const { return base_name_; }
  [[nodiscard]] const std::string& filter() const { return filter_; }                      // "" none
  [[nodiscard]] bool lacks_filter() const { return arguments_end_ + 1 == words_.size(); }  // behind its "if"

  // Refusals for reasons that only the domain knows.
  [[nodiscard]] EventProbeRefusal no_such_base() const;
  [[nodiscard]] EventProbeRefusal name_is_taken() const;
  [[nodiscard]] EventProbeRefusal no_filter() const;

  // The arguments, of an event with these fields.
  AcceptedEventProbe<std::vector<EventProbeArgument>> arguments(const event::Declaration& base) const;

  // The command as the error log shows it.
  [[nodiscard]] static std::string logged(std::string_view line);

 private:
  friend class EventProbeArgumentParser;
  [[nodiscard]] std::size_t position_of(std::size_t word) const;
  [[nodiscard]] EventProbeRefusal refusal(std::string_view what, std::size_t word, std::size_t offset = 0,
                                          int code = EINVAL) const;

  std::vector<std::string_view> words_;
  std::size_t arguments_end_ = 0;
  std::string group_ = kEventProbeSystem;
  std::string name_;
  std::string_view base_system_;
  std::string_view base_name_;
  std::string filter_;
};

// "e:GROUP/NAME SYSTEM.EVENT ARGUMENT=FETCH…", the line of dynamic_events.
std::string event_probe_text(const EventProbeCommand& command, const std::vector<EventProbeArgument>& arguments);
// The event that it makes.
event::Declaration declare_event_probe(const EventProbeCommand& command,
                                       const std::vector<EventProbeArgument>& arguments);

}  // namespace landtrace::language
