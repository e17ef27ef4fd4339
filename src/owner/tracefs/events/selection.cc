#include "tracefs/events/selection.hpp"

#include "tracefs/context.hpp"
#include "tracefs/events/switching.hpp"

namespace landtrace::tracefs {
namespace {

std::optional<std::string> part(std::string_view text) {
  if (text.empty() || text == "*") return std::nullopt;
  return std::string(text);
}

bool fits(const std::optional<std::string>& wanted, const std::string& name) { return !wanted || *wanted == name; }

bool has_all_user_events(const Selection& selection) {
  if (selection.is_all() || selection.either == domain::kSystem) return true;
  return selection.system == domain::kSystem && !selection.event;
}

// The events that are meant.
Result<std::vector<domain::Event*>> begin_listening(const InstanceState& state, domain::Instance& instance,
                                                    const Selection& selection, bool on) {
  auto events = select(state, selection);
  if (events.empty() && !selection.is_all()) return fail(EINVAL, "no event is called that");
  if (!on && has_all_user_events(selection)) rules::Selections::deselect(instance, kUserEvents);
  return events;
}

}  // namespace

Selection Selection::parse(std::string_view word) {
  const auto colon = word.find(':');
  if (colon == std::string_view::npos) return {{}, {}, std::string(word)};
  return {part(word.substr(0, colon)), part(word.substr(colon + 1)), {}};
}

bool Selection::has(const domain::Event& candidate) const {
  if (either && *either != candidate.name && *either != candidate.system) return false;
  return fits(system, candidate.system) && fits(event, candidate.name);
}

std::vector<domain::Event*> select(const InstanceState& instance, const Selection& selection) {
  std::vector<domain::Event*> events = instance.events();
  std::erase_if(events, [&](const domain::Event* event) { return !selection.has(*event); });
  return events;
}

Result<void> listen_to(const InstanceState& state, const Selection& selection, bool on) {
  LT_TRY(domain::Instance* const instance, state.get());
  LT_TRY(const auto events, begin_listening(state, *instance, selection, on));
  return state.context.domain.listening().set(*instance, events, on);
}

Result<bool> listen_in_turns(const InstancePtr& state, const Selection& selection, bool on, std::string_view text,
                             Rest& rest) {
  if (rest.is_of(text)) return rest.go_on();
  LT_TRY(domain::Instance* const instance, state->get());
  LT_TRY(const auto events, begin_listening(*state, *instance, selection, on));
  return rest.begin(text, std::make_unique<Switching>(state, events, on));
}

}  // namespace landtrace::tracefs
