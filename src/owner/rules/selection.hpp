// What an instance wants of the events that match a pattern, now and as they register: that it listens to them, a
// filter, triggers. Whoever calls these holds the domain.
#pragma once

#include <string>
#include <vector>

#include "event/pattern.hpp"
#include "rules/filters.hpp"
#include "rules/triggers.hpp"

namespace landtrace::rules {

using event::Pattern;

struct Selection {
  Pattern pattern;
  std::string filter;                 // "" none
  std::vector<std::string> triggers;  // as a `trigger` file takes them
};

// A filter that judges nothing of an event, or a trigger that it does not have, and why.
struct Unfit {
  std::string event;  // SYSTEM:EVENT
  std::string rule;   // the filter, or the trigger
  bool is_trigger;
  std::string reason;
};

// EINVAL where the filter or a trigger is invalid, whatever the event; also for a command that takes a trigger away.
Result<void> check_rules(const Selection& selection);

class Selections {
 public:
  Selections(Events& events, Instances& instances, Plans& plans, Listening& listening, Filters& filters,
             Triggers& triggers)
      : events_(events),
        instances_(instances),
        plans_(plans),
        listening_(listening),
        filters_(filters),
        triggers_(triggers) {}

  // Listens to all events that match, now and as they register, with the selection's filter and triggers, which an
  // event has before it is listened to. Of several selections that match an event it has all triggers, and the filter
  // of the last one that has a filter. Those that do not fit an event (it lacks a field) are in unfit_of(instance); it
  // is listened to all the same. A trigger that switches an event which is not there yet waits for it. EINVAL as
  // check_rules().
  Result<void> select(Instance& instance, Selection selection);
  // The same without filter and triggers, in place of what was selected with the same pattern; or stops it.
  Result<void> listen(Instance& instance, const Pattern& pattern, bool on);

  // Whether the instance listens to events with that pattern as they register.
  [[nodiscard]] static bool selects(const Instance& instance, std::string_view pattern);
  // It does not any more; what it listens to stays.
  static void deselect(Instance& instance, std::string_view pattern);

  // The event is new, and nobody can emit it yet: it is listened to by those that have selected it.
  Result<void> apply_to(Event& event);

  [[nodiscard]] static const std::vector<Unfit>& unfit_of(const Instance& instance);
  // Events that register from here on are nothing to the instance.
  static void forget(Instance& instance);

 private:
  [[nodiscard]] std::vector<Event*> matching(const Pattern& pattern);
  void give_rules(Instance& instance, Event& event, const Selection& selection);
  void give_trigger(Instance& instance, Event& event, const std::string& text);
  // Triggers of other events that have waited for this one.
  void give_waiting_triggers(Instance& instance, const Event& target);

  Events& events_;
  Instances& instances_;
  Plans& plans_;
  Listening& listening_;
  Filters& filters_;
  Triggers& triggers_;
};

}  // namespace landtrace::rules
