// What the files of an event's folder have in common.
#pragma once

#include "tracefs/context.hpp"
#include "tracefs/text_file.hpp"

namespace landtrace::tracefs {

// An event as an instance sees it.
struct EventRef {
  EventRef(InstancePtr instance_in, const domain::Event& event)
      : instance(std::move(instance_in)), slot(event.slot), serial(event.serial) {}

  // ENODEV once it is gone, also if another event has its name by now.
  [[nodiscard]] Result<domain::Event*> get() const {
    domain::Event* const event = instance->context.domain.events().at(slot);
    if (event == nullptr || event->serial != serial) return fail(ENODEV, "the event is gone");
    return event;
  }

  InstancePtr instance;
  std::uint32_t slot;
  std::uint64_t serial;
};

class EventFile : public TextFile {
 public:
  EventFile(EventRef event, unsigned mode) : TextFile(mode), event_(std::move(event)) {}

 protected:
  Result<void> check_open(const Caller&, int) override {
    LT_TRY([[maybe_unused]] const domain::Event* const event, event_.get());
    return {};
  }

  EventRef event_;
};

}  // namespace landtrace::tracefs
