// events/SYSTEM/EVENT/trigger
#pragma once

#include "tracefs/events/event_file.hpp"

namespace landtrace::tracefs {

class EventTrigger : public EventFile {
 public:
  explicit EventTrigger(EventRef event) : EventFile(std::move(event), 0640) {}

  // What the file says while there is no trigger.
  static constexpr const char* kAvailable =
      "# Available triggers:\n"
      "# traceon traceoff snapshot stacktrace enable_event disable_event enable_hist disable_hist hist\n";

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;
};

}  // namespace landtrace::tracefs
