// events/SYSTEM/EVENT/enable
#pragma once

#include "tracefs/events/event_file.hpp"

namespace landtrace::tracefs {

class EventEnable : public EventFile {
 public:
  explicit EventEnable(EventRef event) : EventFile(std::move(event), 0640) {}

 protected:
  Result<std::string> text() override;
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;
};

}  // namespace landtrace::tracefs
