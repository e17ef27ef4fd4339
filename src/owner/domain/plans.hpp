// What an event does in each instance that listens to it, as producers find it: the plans of a domain's events.
#pragma once

#include "domain/events.hpp"
#include "domain/instances.hpp"
#include "domain/segment_names.hpp"

namespace landtrace::domain {

class Plans final : public EventPlans {
 public:
  Plans(ControlMemory& control, Grace& grace, const Cells& cells, Events& events, Instances& instances)
      : control_(control), grace_(grace), cells_(cells), events_(events), instances_(instances) {}

  // What the event does, as all of its instances have it now. To be called after any of that has changed. On ENOSPC
  // producers go on with the old plan.
  Result<void> publish(const Event& event);
  // The same for all events that the instance listens to, after something about the instance has changed.
  Result<void> publish_all(const Instance& instance);
  // The event does nothing any more.
  void withdraw(const Event& event) override { std::ignore = publish(event, {}); }

  // What records in the instance now.
  [[nodiscard]] plan::PlanStep record_step(const Instance& instance) const;

 private:
  Result<void> publish(const Event& event, std::span<const plan::PlanStep> steps);

  ControlMemory& control_;
  Grace& grace_;
  const Cells& cells_;
  Events& events_;
  Instances& instances_;
};

}  // namespace landtrace::domain
