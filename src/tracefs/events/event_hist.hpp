// events/SYSTEM/EVENT/hist: the event's histograms; it has none.
#pragma once

#include "tracefs/events/event_file.hpp"

namespace landtrace::tracefs {

class EventHist : public EventFile {
 public:
  explicit EventHist(EventRef event) : EventFile(std::move(event), 0440) {}

 protected:
  Result<std::string> text() override {
    LT_TRY([[maybe_unused]] const domain::Event* const event, event_.get());
    return "";
  }
};

}  // namespace landtrace::tracefs
