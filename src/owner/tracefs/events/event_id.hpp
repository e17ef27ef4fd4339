// events/SYSTEM/EVENT/id
#pragma once

#include "tracefs/events/event_file.hpp"

namespace landtrace::tracefs {

class EventId : public EventFile {
 public:
  explicit EventId(EventRef event) : EventFile(std::move(event), 0440) {}

 protected:
  Result<std::string> text() override {
    LT_TRY(const domain::Event* const event, event_.get());
    return std::to_string(event_.instance->context.domain.control().segment().events[event->slot].id) + '\n';
  }
};

}  // namespace landtrace::tracefs
