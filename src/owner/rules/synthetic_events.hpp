// Synthetic events: defined by command, they belong to the domain and stay until they are removed. Histograms make them
// happen, and programs that attach to them. Whoever calls these holds the domain.
#pragma once

#include "event/synthetic.hpp"
#include "language/synthetic/command.hpp"
#include "rules/domain_names.hpp"

namespace landtrace::rules {

// The event by its name; nullptr if there is none. Whoever needs it to stay holds it by Events::add_reference().
inline Event* find_synthetic(Events& events, std::string_view name) {
  return events.find(event::kSyntheticSystem, name);
}

// EINVAL, EEXIST as the kernel has them; ENOSPC.
language::AcceptedSynthetic<Event*> define_synthetic(Events& events, Registrar& registrar,
                                                     const language::SyntheticCommand& definition, std::uint32_t uid);

}  // namespace landtrace::rules
