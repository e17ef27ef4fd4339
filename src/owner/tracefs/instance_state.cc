#include "tracefs/instance_state.hpp"

#include <algorithm>

#include "tracefs/context.hpp"

namespace landtrace::tracefs {
namespace {

// The options that a new instance takes over from the top one.
std::shared_ptr<TraceInstance> trace_of(Context& context, const domain::Instance& instance) {
  const TraceInstance* const top = instance.index == 0 ? nullptr : context.state_of(context.domain.top())->trace.get();
  return std::make_shared<TraceInstance>(context.domain, instance.index, top);
}

}  // namespace

InstanceState::InstanceState(Context& context_in, const domain::Instance& instance)
    : context(context_in),
      index(instance.index),
      serial(instance.serial),
      cpus(context_in.domain.control().segment().cpus),
      trace(trace_of(context_in, instance)),
      first_new_event_(index == 0 ? 0 : context_in.domain.events().next_serial()) {}

Result<domain::Instance*> InstanceState::get() const {
  domain::Instance* const instance = context.domain.instances().at(index);
  if (instance == nullptr || instance->serial != serial) return fail(ENODEV, "the instance is gone");
  return instance;
}

std::vector<domain::Event*> InstanceState::events() const {
  std::vector<domain::Event*> events = context.domain.events().all();
  const auto first_new = std::partition_point(
      events.begin(), events.end(), [&](const domain::Event* event) { return event->serial < first_new_event_; });
  std::reverse(first_new, events.end());
  std::rotate(events.begin(), first_new, events.end());
  return events;
}

}  // namespace landtrace::tracefs
