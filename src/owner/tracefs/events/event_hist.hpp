// events/SYSTEM/EVENT/hist: what the event's histograms have counted.
#pragma once

#include "tracefs/events/event_file.hpp"

namespace landtrace::tracefs {

class EventHist : public EventFile {
 public:
  explicit EventHist(EventRef event) : EventFile(std::move(event), 0440) {}

 protected:
  Result<std::string> begin_text(std::unique_ptr<TextToCome>& to_come) override;
};

}  // namespace landtrace::tracefs
