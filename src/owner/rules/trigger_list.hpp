// An event's triggers in an instance: how the list grows and shrinks, and how producers get it.
#pragma once

#include "domain/domain.hpp"

namespace landtrace::rules {

// What the event's triggers and event probes do in the instance, for producers. To be called after any of that has changed.
// What the producers have stays where there is no room.
Result<void> publish_triggers(Domain& domain, Instance& instance, Event& event);

enum class ListEnd : std::uint8_t { kFront, kBack };
// `made` has all that it needs, which is given back where it cannot be added.
Result<void> add_trigger(Domain& domain, Instance& instance, Event& event, EventTrigger made, ListEnd end);
void remove_trigger(Domain& domain, Instance& instance, Event& event, std::size_t index);
// What a trigger needs that no list has any more.
void give_back(Domain& domain, Instance& instance, const EventTrigger& gone);

// Snapshots may be taken in the instance at any time from here on. EINVAL where there is no buffer for them.
Result<void> hold_snapshot(Instance& instance);
void release_snapshot(Instance& instance);

// The switch of all histograms of the event in the instance.
Result<std::uint32_t> hist_switch_of(Domain& domain, Instance& instance, Event& event);

}  // namespace landtrace::rules
