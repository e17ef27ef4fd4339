#include "tracefs/synthetic_events.hpp"

#include "base/character.hpp"
#include "domain/status.hpp"
#include "rules/synthetic_events.hpp"
#include "tracefs/command_lines.hpp"
#include "tracefs/remove_all.hpp"

namespace landtrace::tracefs {
namespace {

tl::unexpected<Error> log_refusal(Context& context, std::string_view line, const language::CommandRefusal& refusal) {
  if (refusal.what.empty()) return fail(refusal.code, "the event could not be made");
  context.log_error(context.domain.top(),
                    {"synthetic_events", std::string(refusal.what), std::string(skip_spaces(line)), refusal.position});
  return fail(refusal.code, std::string(refusal.what));
}

// ENOENT; EBUSY while anything but recorders refers to it or listens to it, EPERM for another user's.
Result<void> remove_synthetic(Context& context, std::string_view name, std::uint32_t uid) {
  domain::Event* const event = rules::find_synthetic(context.domain.events(), name);
  if (event == nullptr || event->flavour() != event::Flavour::kSynthetic) {
    return fail(ENOENT, "no synthetic event '" + std::string(name) + "'");
  }
  return context.rules.remove(*event, uid);
}

}  // namespace

Result<void> define_synthetic(Context& context, const Caller& caller, std::string_view line,
                              const language::AcceptedSynthetic<language::SyntheticCommand>& definition) {
  if (!definition) return log_refusal(context, line, definition.error());
  const auto defined =
      rules::define_synthetic(context.domain.events(), context.domain.registrar(), *definition, caller.who.uid);
  if (!defined) return log_refusal(context, line, defined.error());
  return {};
}

Result<std::string> SyntheticEvents::text() { return domain::synthetic_events_text(context_.domain.events()); }

Result<std::size_t> SyntheticEvents::store(const Caller& caller, std::string_view bytes) {
  return run_lines(bytes, [&](std::string_view line) -> Result<void> {
    const auto command = language::split_synthetic(line);
    if (command && command->kind == language::SyntheticCommand::Kind::kNothing) return {};
    if (command && command->kind == language::SyntheticCommand::Kind::kRemoval) {
      return remove_synthetic(context_, command->name, caller.who.uid);
    }
    return define_synthetic(context_, caller, line, command);
  });
}

Result<void> SyntheticEvents::truncate(const Caller& caller) {
  return remove_all(context_, caller,
                    [](const domain::Event& event) { return event.flavour() == event::Flavour::kSynthetic; });
}

}  // namespace landtrace::tracefs
