// events/SYSTEM/EVENT/trigger
#pragma once

#include "tracefs/events/event_file.hpp"

namespace landtrace::tracefs {

class EventTrigger : public EventFile {
 public:
  explicit EventTrigger(EventRef event) : EventFile(std::move(event), 0640) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;
  Result<void> truncate(const Caller& caller) override;
};

}  // namespace landtrace::tracefs
