#include "rules/event_probes.hpp"

#include <utility>

#include "plan/event_probe.hpp"
#include "rules/probe_plan.hpp"
#include "rules/file_rules.hpp"

namespace landtrace::rules {
namespace {

tl::unexpected<RefusedEventProbe> refuse_probe(language::ProbeRefusal refusal) {
  return tl::unexpected<RefusedEventProbe>({std::move(refusal), {}, {}});
}
tl::unexpected<RefusedEventProbe> refuse_probe(const Error& error) {
  return refuse_probe(language::ProbeRefusal{error.code, {}});
}

}  // namespace

const EventProbe* find_event_probe(const Event& event) {
  if (event.flavour() != event::Flavour::kEventProbe) return nullptr;
  return static_cast<const EventProbe*>(event.defined->rules.get());
}

tl::expected<Event*, RefusedEventProbe> EventProbes::define(std::string_view line, std::uint32_t uid) {
  auto command = language::EventProbeCommand::split(line);
  if (!command) return refuse_probe(std::move(command).error());
  Event* const base = events_.find(command->base_system(), command->base_name());
  if (base == nullptr || event::is_probe(base->flavour())) return refuse_probe(command->no_such_base());
  if (command->lacks_filter()) return refuse_probe(command->no_filter());
  std::uint32_t program = 0;
  if (!command->filter().empty()) {
    const auto stored = filters_.store(*base, command->filter());
    if (!stored) return tl::unexpected<RefusedEventProbe>({{}, stored.error(), command->filter()});
    program = *stored;
  }
  // The base must not go while the probe, which is to keep it, is made.
  const Events::Hold hold(events_, *base);
  auto made = make(*command, *base, program, uid);
  if (!made) {
    if (program != 0) control_.free(program);
    return made;
  }
  Event& probe = **made;
  probe.defined->command = language::EventProbeCommand::logged(line);
  if (auto attached = attach(probe); !attached) {
    probe.listeners.reset();
    std::ignore = events_.remove(probe, 0);
    return refuse_probe(attached.error());
  }
  events_.write_down(probe);
  return &probe;
}

tl::expected<Event*, RefusedEventProbe> EventProbes::make(const language::EventProbeCommand& command, Event& base,
                                                          std::uint32_t program, std::uint32_t uid) {
  const auto arguments = command.arguments(*base.declaration());
  if (!arguments) return refuse_probe(arguments.error());
  event::Declaration made = language::declare_event_probe(command, *arguments);
  const event::Declaration declared = made;
  const auto added = registrar_.add_event(command.group(), std::move(made), event_probe_text(command, *arguments), uid);
  if (!added) return added.error().code == EEXIST ? refuse_probe(command.name_is_taken()) : refuse_probe(added.error());
  Event& probe = **added;
  const bool of_synthetic = base.flavour() == event::Flavour::kSynthetic;
  const auto stored = control_.store(event_probe_plan(*arguments, declared, of_synthetic, probe.slot));
  if (!stored) {
    probe.listeners.reset();
    std::ignore = events_.remove(probe, 0);
    return refuse_probe(stored.error());
  }
  auto state = std::make_unique<EventProbe>();
  state->base = base.slot;
  state->program = program;
  state->plan = *stored;
  events_.add_reference(base);
  probe.defined->rules = std::move(state);
  return &probe;
}

Result<void> EventProbes::attach(Event& probe) {
  if (find_event_probe(probe) == nullptr) return {};
  auto& state = static_cast<EventProbe&>(*probe.defined->rules);
  const auto wanted = host_of(probe, state.host);
  Event* const base = events_.at(state.base);
  if (wanted == state.host || base == nullptr) return {};
  // First the new one: nothing is missed between.
  if (wanted) LT_CHECK(put_trigger(*instances_.at(*wanted), *base, probe));
  const auto old = std::exchange(state.host, wanted);
  if (old) take_trigger(*instances_.at(*old), *base, probe);
  return {};
}

void EventProbes::let_go(Event& probe) {
  if (find_event_probe(probe) == nullptr) return;
  const std::unique_ptr<domain::Attachment> gone = std::move(probe.defined->rules);
  const auto& state = static_cast<const EventProbe&>(*gone);
  if (state.host) {
    Event* const base = events_.at(state.base);
    Instance* const instance = instances_.at(*state.host);
    if (base != nullptr && instance != nullptr) take_trigger(*instance, *base, probe);
  }
  grace_.after_readers([&control = control_, plan = state.plan, program = state.program] {
    if (plan != 0) control.free(plan);
    if (program != 0) control.free(program);
  });
  events_.drop_reference(state.base);
}

Result<void> EventProbes::put_trigger(Instance& instance, Event& base, const Event& probe) {
  LT_CHECK(listening_.hold_soft(instance, base));
  std::vector<std::uint32_t>& probes = rules_of(base, instance).event_probes;
  probes.push_back(probe.slot);
  auto published = lists_.publish(instance, base);
  if (published) return published;
  std::erase(probes, probe.slot);
  listening_.release_soft(instance, base);
  return published;
}

void EventProbes::take_trigger(Instance& instance, Event& base, const Event& probe) {
  std::erase(rules_of(base, instance).event_probes, probe.slot);
  // With no room for a shorter list producers go on with the old one, and make events that nobody listens to.
  std::ignore = lists_.publish(instance, base);
  listening_.release_soft(instance, base);
}

// Where it has its trigger now, as long as that instance listens to it; or else the first one that does.
std::optional<std::uint32_t> EventProbes::host_of(const Event& probe, std::optional<std::uint32_t> now) const {
  if (now && probe.listeners[*now]) return now;
  for (const Instance* const instance : instances_.all()) {
    if (probe.listeners[instance->index]) return instance->index;
  }
  return std::nullopt;
}

}  // namespace landtrace::rules
