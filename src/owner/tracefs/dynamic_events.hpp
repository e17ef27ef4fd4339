// dynamic_events: the events that programs made, as definitions.
//   u:NAME FIELDS                 makes one, which stays until it is removed
//   s:NAME FIELDS                 makes a synthetic event (language/synthetic/command.hpp)
//   e:NAME SYSTEM.EVENT …         makes an event probe (language/probe/event_probe_command.hpp)
//   p:NAME PLACE …, r:NAME …      makes a probe of functions (language/probe/function_probe.hpp)
//   -:[SYSTEM/]NAME [FIELDS]      removes it; without fields, a user event that has none
//   !u:[SYSTEM/]NAME [FIELDS]     the same
// Truncation removes all of them, if none is in use.
#pragma once

#include "tracefs/context.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

class DynamicEvents : public TextFile {
 public:
  explicit DynamicEvents(Context& context) : TextFile(0640), context_(context) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store_in_turns(const Caller& caller, std::string_view bytes, Rest& rest) override;
  [[nodiscard]] bool takes_turns() const override { return true; }
  Result<void> truncate(const Caller& caller) override;

 private:
  Result<void> run(const Caller& caller, std::string_view line, Rest& rest);
  Result<void> make(const Caller& caller, std::string_view definition);
  Result<void> make_probe(const Caller& caller, std::string_view line, Rest& rest);
  Result<void> make_event_probe(const Caller& caller, std::string_view line);

  Context& context_;
};

}  // namespace landtrace::tracefs
