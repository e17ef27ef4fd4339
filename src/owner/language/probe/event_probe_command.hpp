// What is written to dynamic_events as "e:", an event probe:
//
//   e[:[GROUP/][NAME]] SYSTEM.EVENT [[ARGUMENT=]FETCH[:TYPE]]… [if FILTER]
//   (FETCH: fetch.hpp)
//
// Carets stand where the kernel has them, which is not always below the mistake.
#pragma once

#include "language/probe/command_words.hpp"
#include "language/probe/fetch.hpp"

namespace landtrace::language {

inline constexpr const char* kEventProbeSystem = "eprobes";

class EventProbeCommand {
 public:
  // Whether the line is meant as one: two words or more, the first beginning with an e.
  static bool is_one(std::string_view line);
  // Reads all but the arguments. `line` must outlive the command.
  static AcceptedProbe<EventProbeCommand> split(std::string_view line);

  [[nodiscard]] const std::string& group() const { return group_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string_view base_system() const { return base_system_; }
  [[nodiscard]] std::string_view base_name() const { return base_name_; }
  [[nodiscard]] const std::string& filter() const { return filter_; }                      // "" none
  [[nodiscard]] bool lacks_filter() const { return arguments_end_ + 1 == words_.size(); }  // behind its "if"

  // Refusals for reasons that only the domain knows.
  [[nodiscard]] ProbeRefusal no_such_base() const;
  [[nodiscard]] ProbeRefusal name_is_taken() const;
  [[nodiscard]] ProbeRefusal no_filter() const;

  // The arguments, of an event with these fields.
  AcceptedProbe<std::vector<ProbeArgument>> arguments(const event::Declaration& base) const;

  // The command as the error log shows it.
  [[nodiscard]] static std::string logged(std::string_view line) { return CommandWords(line).joined(); }

 private:
  CommandWords words_;
  std::size_t arguments_end_ = 0;
  std::string group_ = kEventProbeSystem;
  std::string name_;
  std::string_view base_system_;
  std::string_view base_name_;
  std::string filter_;
};

// "e:GROUP/NAME SYSTEM.EVENT ARGUMENT=FETCH…", the line of dynamic_events.
std::string event_probe_text(const EventProbeCommand& command, const std::vector<ProbeArgument>& arguments);
// The event that it makes.
event::Declaration declare_event_probe(const EventProbeCommand& command, const std::vector<ProbeArgument>& arguments);

}  // namespace landtrace::language
