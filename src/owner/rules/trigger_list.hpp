// An event's triggers in an instance: how the list grows and shrinks, and how producers get it.
#pragma once

#include "rules/file_rules.hpp"

namespace landtrace::rules {

class Histograms;

class TriggerLists {
 public:
  TriggerLists(ControlMemory& control, Grace& grace, Cells& cells, Events& events, Plans& plans, Listening& listening,
               Histograms& histograms)
      : control_(control),
        grace_(grace),
        cells_(cells),
        events_(events),
        plans_(plans),
        listening_(listening),
        histograms_(histograms) {}

  // What the event's triggers and event probes do in the instance, for producers. To be called after any of that has
  // changed. What the producers have stays where there is no room.
  Result<void> publish(Instance& instance, Event& event);

  enum class End : std::uint8_t { kFront, kBack };
  // `made` has all that it needs, which is given back where it cannot be added.
  Result<void> add(Instance& instance, Event& event, EventTrigger made, End end);
  void remove(Instance& instance, Event& event, std::size_t index);
  // What a trigger needs that no list has any more.
  void give_back(Instance& instance, const EventTrigger& gone);

  // The switch of all histograms of the event in the instance.
  Result<std::uint32_t> hist_switch_of(Instance& instance, Event& event);

 private:
  [[nodiscard]] static std::vector<std::uint32_t> cells_of(const Instance& instance, const EventTrigger& trigger);
  [[nodiscard]] std::vector<plan::Trigger> shared_forms(const FileRules& rules) const;
  // As steps of the event's plan; empty: they have to be a list.
  [[nodiscard]] std::vector<domain::Observer> as_observers(const std::vector<plan::Trigger>& triggers) const;
  // The same of those that can be, which are taken out of `triggers`; what is left has to be a list.
  [[nodiscard]] std::vector<domain::Observer> take_observers(std::vector<plan::Trigger>& triggers,
                                                             bool are_conditional) const;

  ControlMemory& control_;
  Grace& grace_;
  Cells& cells_;
  Events& events_;
  Plans& plans_;
  Listening& listening_;
  Histograms& histograms_;
};

}  // namespace landtrace::rules
