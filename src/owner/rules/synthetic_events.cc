#include "rules/synthetic_events.hpp"

#include <fmt/format.h>

namespace landtrace::rules {

language::AcceptedSynthetic<Event*> define_synthetic(Events& events, Registrar& registrar,
                                                     const language::SyntheticCommand& definition, std::uint32_t uid) {
  auto declaration = language::parse_synthetic(definition, [&](std::string_view name) {
    const Event* const found = find_synthetic(events, name);
    return found != nullptr && found->flavour() == event::Flavour::kSynthetic;
  });
  if (!declaration) return tl::unexpected<language::CommandRefusal>(declaration.error());
  std::string text = fmt::format("{} {}", declaration->name, fields_text(*declaration));
  const auto made = registrar.add_event(event::kSyntheticSystem, *std::move(declaration), std::move(text), uid);
  if (!made) return tl::unexpected<language::CommandRefusal>({made.error().code, {}, 0});
  events.write_down(**made);
  return *made;
}

}  // namespace landtrace::rules
