// events/SYSTEM/EVENT/inject: records an event by hand, in this instance only.
#pragma once

#include "tracefs/events/event_file.hpp"
#include "tracefs/events/injected.hpp"

namespace landtrace::tracefs {

class EventInject : public EventFile {
 public:
  explicit EventInject(EventRef event) : EventFile(std::move(event), 0200) {}

 protected:
  Result<std::string> text() override { return fail(EPERM, "there is nothing to read"); }
  Result<std::size_t> store(const Caller& caller, std::string_view bytes) override;
  virtual Result<void> record(const domain::Instance& instance, const Injected& injected, std::uint32_t tid,
                              std::uint32_t uid);
};

// Of ftrace:print, whose record is as long as its text.
class PrintInject : public EventInject {
 public:
  using EventInject::EventInject;

 protected:
  Result<void> record(const domain::Instance& instance, const Injected& injected, std::uint32_t tid,
                      std::uint32_t uid) override;
};

}  // namespace landtrace::tracefs
