// events/SYSTEM/EVENT/format
#pragma once

#include "tracefs/events/event_file.hpp"

namespace landtrace::tracefs {

class EventFormat : public EventFile {
 public:
  explicit EventFormat(EventRef event) : EventFile(std::move(event), 0440) {}

 protected:
  Result<std::string> text() override {
    LT_TRY(const domain::Event* const event, event_.get());
    const auto& shared = event_.instance->context.domain.control().segment().events[event->slot];
    return event::format_text(*event->declaration(), event->name, shared.id);
  }
};

}  // namespace landtrace::tracefs
