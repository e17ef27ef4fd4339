#include "tracefs/remove_all.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace landtrace::tracefs {
namespace {

using domain::Event;

std::uint32_t event_probes_of(const std::vector<Event*>& events, const Event& base) {
  return static_cast<std::uint32_t>(std::count_if(events.begin(), events.end(), [&](const Event* event) {
    return event->flavour() == event::Flavour::kEventProbe &&
           event->declaration.attached == fmt::format("{}.{}", base.system, base.name);
  }));
}

}  // namespace

Result<void> remove_all(Context& context, const Caller& caller, const std::function<bool(const Event&)>& is_meant) {
  domain::Domain& domain = context.domain;
  domain.enable_words().sweep();  // the processes that kept them may have ended
  std::vector<Event*> events = domain.events().all();
  std::erase_if(events, [&](const Event* event) { return !is_meant(*event); });
  for (const Event* const event : events) {
    const bool is_listened_to = event->flavour() != event::Flavour::kSynthetic && event->listeners.any();
    if (is_listened_to || event->references > event_probes_of(events, *event)) {
      return fail(EBUSY, "event '" + event->name + "' is in use");
    }
  }
  std::reverse(events.begin(), events.end());  // a probe is younger than what it is attached to
  std::vector<std::pair<std::uint32_t, std::uint64_t>> names;
  for (const Event* const event : events) names.emplace_back(event->slot, event->serial);
  for (const auto& [slot, serial] : names) {
    Event* const event = domain.events().at(slot);  // which may have gone with its probe
    if (event != nullptr && event->serial == serial) LT_CHECK(context.rules.remove(*event, caller.who.uid));
  }
  return {};
}

}  // namespace landtrace::tracefs
