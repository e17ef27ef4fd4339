#include "rules/event_programs.hpp"

#include <algorithm>
#include <utility>

#include "rules/file_rules.hpp"

namespace landtrace::rules {

Result<void> EventPrograms::attach(Event& event, std::uint32_t program) {
  Instance& top = instances_.top();
  // A probe that cannot be put where it belongs lets the event go with what has been asked for here.
  const Events::Hold hold(events_, event);
  LT_CHECK(listening_.hold_soft(top, event));
  std::vector<std::uint32_t>& programs = rules_of(event, top).programs;
  programs.push_back(program);
  auto published = lists_.publish(top, event);
  if (!published) {
    programs.pop_back();
    listening_.release_soft(top, event);
    return published;
  }
  events_.add_reference(event);
  return {};
}

bool EventPrograms::detach(std::uint32_t slot, std::uint32_t program) {
  Event* const event = events_.at(slot);
  Instance& top = instances_.top();
  FileRules* const rules = event == nullptr ? nullptr : find_rules(*event, top);
  if (rules == nullptr) return false;
  const auto found = std::find(rules->programs.begin(), rules->programs.end(), program);
  if (found == rules->programs.end()) return false;
  rules->programs.erase(found);
  // With no room for a shorter list producers would go on with the old one, and with a program that is to be freed: the
  // event does nothing any more then.
  if (!lists_.publish(top, *event)) std::ignore = listening_.set(top, {event}, false);
  listening_.release_soft(top, *event);
  events_.drop_reference(slot);
  return true;
}

void EventPrograms::drop(Instance& instance, Event& event) {
  FileRules* const rules = find_rules(event, instance);
  if (rules == nullptr || rules->programs.empty()) return;
  const auto gone = std::exchange(rules->programs, {});
  std::ignore = lists_.publish(instance, event);
  const std::uint32_t slot = event.slot;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    listening_.release_soft(instance, event);
    events_.drop_reference(slot);
  }
}

}  // namespace landtrace::rules
