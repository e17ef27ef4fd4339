// events/SYSTEM/EVENT/inject: records an event by hand, in this instance only.
#pragma once

#include "tracefs/events/event_file.hpp"

namespace landtrace::tracefs {

class EventInject : public EventFile {
 public:
  explicit EventInject(EventRef event) : EventFile(std::move(event), 0200) {}

 protected:
  Result<std::string> text() override { return fail(EPERM, "there is nothing to read"); }
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;
};

}  // namespace landtrace::tracefs
