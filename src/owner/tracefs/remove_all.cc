#include "tracefs/remove_all.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace landtrace::tracefs {
namespace {

using domain::Event;

// How many event probes each event has, by "SYSTEM.EVENT".
std::map<std::string, std::uint32_t> event_probes_among(const std::vector<Event*>& events) {
  std::map<std::string, std::uint32_t> probes;
  for (const Event* const event : events) {
    if (event->flavour() == event::Flavour::kEventProbe) ++probes[event->declaration()->attached];
  }
  return probes;
}

bool is_in_use(const Event& event, const std::map<std::string, std::uint32_t>& probes) {
  if (event.flavour() != event::Flavour::kSynthetic && event.listeners.any()) return true;
  if (event.references == 0) return false;
  const auto found = probes.find(fmt::format("{}.{}", event.system, event.name));
  return event.references > (found == probes.end() ? 0 : found->second);
}

}  // namespace

Result<void> remove_all(Context& context, const Caller& caller, const std::function<bool(const Event&)>& is_meant,
                        std::chrono::microseconds length) {
  domain::Domain& domain = context.domain;
  domain.enable_words().sweep();  // the processes that kept them may have ended
  std::vector<Event*> events = domain.events().all();
  std::erase_if(events, [&](const Event* event) { return !is_meant(*event); });
  const auto probes = event_probes_among(events);
  for (const Event* const event : events) {
    if (is_in_use(*event, probes)) return fail(EBUSY, "event '" + event->name + "' is in use");
  }
  std::reverse(events.begin(), events.end());  // a probe is younger than what it is attached to
  std::vector<std::pair<std::uint32_t, std::uint64_t>> names;
  for (const Event* const event : events) names.emplace_back(event->slot, event->serial);
  const domain::Turn turn(length);
  bool is_first = true;
  for (const auto& [slot, serial] : names) {
    Event* const event = domain.events().at(slot);  // which may have gone with its probe
    if (event == nullptr || event->serial != serial) continue;
    if (!std::exchange(is_first, false) && turn.is_over()) return fail(kNotYet);
    LT_CHECK(context.rules.remove(*event, caller.who.uid));
  }
  return {};
}

}  // namespace landtrace::tracefs
